#include "weights/tensor.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>
#include <utility>

#include "weights/numbers.h"

namespace vit::weights {
namespace {

/// `of` reads element i at `base`. The loop over neighbours is spelt out so that it vectorises.
template <typename Of>
void convert_with(Of of, const std::byte* base, size_t first, size_t stride, size_t count,
                  float* out) {
  if (stride == 1) {
    for (size_t i = 0; i < count; ++i) out[i] = of(base, first + i);
  } else {
    for (size_t i = 0; i < count; ++i) out[i] = of(base, first + i * stride);
  }
}

template <typename T>
void convert_plain(const std::byte* base, size_t first, size_t stride, size_t count, float* out) {
  const auto of = [](const std::byte* from, size_t i) {
    return static_cast<float>(load<T>(from + i * sizeof(T)));
  };
  convert_with(of, base, first, stride, count, out);
}

template <float (*kFloatOf)(std::uint16_t)>
void convert_half(const std::byte* base, size_t first, size_t stride, size_t count, float* out) {
  const auto of = [](const std::byte* from, size_t i) {
    return kFloatOf(load<std::uint16_t>(from + i * sizeof(std::uint16_t)));
  };
  convert_with(of, base, first, stride, count, out);
}

void convert(const Tensor& t, size_t first, size_t stride, size_t count, float* out) {
  switch (t.dtype) {
    case DType::kF32:
      if (stride == 1)
        std::memcpy(out, t.data + first * sizeof(float), count * sizeof(float));
      else
        convert_plain<float>(t.data, first, stride, count, out);
      return;
    case DType::kF64:
      return convert_plain<double>(t.data, first, stride, count, out);
    case DType::kF16:
      return convert_half<float_of_f16>(t.data, first, stride, count, out);
    case DType::kBf16:
      return convert_half<float_of_bf16>(t.data, first, stride, count, out);
    case DType::kI64:
      return convert_plain<std::int64_t>(t.data, first, stride, count, out);
    case DType::kI32:
      return convert_plain<std::int32_t>(t.data, first, stride, count, out);
    case DType::kI16:
      return convert_plain<std::int16_t>(t.data, first, stride, count, out);
    case DType::kI8:
      return convert_plain<std::int8_t>(t.data, first, stride, count, out);
    case DType::kU8:
    case DType::kBool:
      return convert_plain<std::uint8_t>(t.data, first, stride, count, out);
    case DType::kQ8_0:
      return convert_with(float_of_q8_0, t.data, first, stride, count, out);
    case DType::kQ4_0:
      return convert_with(float_of_q4_0, t.data, first, stride, count, out);
  }
}

struct Axis {
  size_t length;
  size_t stride;
};

/// Neighbouring axes that step as one become one, so that a contiguous tensor is a single run.
std::vector<Axis> coalesced(const Tensor& tensor) {
  std::vector<Axis> axes;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    if (tensor.shape[i] == 1) continue;
    const Axis axis{tensor.shape[i], tensor.strides[i]};
    if (!axes.empty() && axes.back().stride == axis.length * axis.stride)
      axes.back() = {axes.back().length * axis.length, axis.stride};
    else
      axes.push_back(axis);
  }
  if (axes.empty()) axes.push_back({1, 1});
  return axes;
}

void read_unscaled(const Tensor& tensor, size_t first, size_t count, float* out) {
  const std::vector<Axis> axes = coalesced(tensor);
  const Axis inner = axes.back();
  while (count != 0) {
    size_t outer = first / inner.length;
    const size_t start = first % inner.length;
    size_t offset = start * inner.stride;
    for (size_t a = axes.size() - 1; a-- > 0;) {
      offset += outer % axes[a].length * axes[a].stride;
      outer /= axes[a].length;
    }
    const size_t run = std::min(count, inner.length - start);
    convert(tensor, offset, inner.stride, run, out);
    first += run;
    out += run;
    count -= run;
  }
}

}  // namespace

Weight::Weight(Tensor tensor) : shape_(tensor.shape), parts_{std::move(tensor)} {}

Weight::Weight(std::vector<Tensor> parts) : parts_(std::move(parts)) {
  assert(!parts_.empty());
  shape_ = parts_.front().shape;
  for (size_t i = 1; i < parts_.size(); ++i) {
    assert(std::equal(shape_.begin() + 1, shape_.end(), parts_[i].shape.begin() + 1,
                      parts_[i].shape.end()));
    shape_[0] += parts_[i].shape[0];
  }
}

Weight::Weight(std::vector<Tensor> parts, Shape shape)
    : shape_(std::move(shape)), parts_(std::move(parts)) {
  assert(std::accumulate(parts_.begin(), parts_.end(), size_t{0}, [](size_t sum, const Tensor& t) {
           return sum + element_count(t.shape);
         }) == element_count(shape_));
}

size_t Weight::cols() const {
  size_t product = 1;
  for (size_t i = 1; i < shape_.size(); ++i) product *= shape_[i];
  return product;
}

Weight Weight::reshaped(Shape shape) const {
  assert(element_count(shape) == size());
  Weight result = *this;
  result.shape_ = std::move(shape);
  return result;
}

void Weight::read_rows(size_t first, size_t count, float* out) const {
  assert(first + count <= rows());
  size_t begin = first * cols();
  size_t left = count * cols();
  for (const auto& part : parts_) {
    if (left == 0) return;
    const size_t length = element_count(part.shape);
    if (begin >= length) {
      begin -= length;
      continue;
    }
    const size_t take = std::min(left, length - begin);
    read_elements(part, begin, take, out);
    out += take;
    left -= take;
    begin = 0;
  }
}

std::vector<float> Weight::numbers() const {
  std::vector<float> numbers(size());
  read_rows(0, rows(), numbers.data());
  return numbers;
}

bool Weight::is_int8() const {
  return parts_.size() == 1 && parts_.front().row_scales != nullptr;
}

float Weight::read_int8_row(size_t row, std::int8_t* integers) const {
  assert(is_int8() && row < rows());
  const Tensor& stored = parts_.front();
  std::memcpy(integers, stored.data + row * cols(), cols());
  return load<float>(stored.row_scales + row * sizeof(float));
}

void read_elements(const Tensor& tensor, size_t first, size_t count, float* out) {
  read_unscaled(tensor, first, count, out);
  if (tensor.row_scales == nullptr || count == 0) return;
  const size_t cols = element_count(tensor.shape) / tensor.shape.front();
  for (size_t i = 0; i < count; ++i)
    out[i] *= load<float>(tensor.row_scales + (first + i) / cols * sizeof(float));
}

size_t element_count(const Shape& shape) {
  size_t product = 1;
  for (const size_t length : shape) product *= length;
  return product;
}

size_t byte_count(DType dtype, size_t count) {
  switch (dtype) {
    case DType::kF64:
    case DType::kI64:
      return count * 8;
    case DType::kF32:
    case DType::kI32:
      return count * 4;
    case DType::kF16:
    case DType::kBf16:
    case DType::kI16:
      return count * 2;
    case DType::kI8:
    case DType::kU8:
    case DType::kBool:
      return count;
    case DType::kQ8_0:
      return (count + kBlockLength - 1) / kBlockLength * kQ8_0Bytes;
    case DType::kQ4_0:
      return (count + kBlockLength - 1) / kBlockLength * kQ4_0Bytes;
  }
  return 0;
}

std::vector<size_t> contiguous_strides(const Shape& shape) {
  std::vector<size_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

}  // namespace vit::weights
