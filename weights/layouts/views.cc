#include "weights/layouts/views.h"

#include <cassert>

#include "vit/base/error.h"
#include "weights/numbers.h"

namespace vit::weights {
namespace {

constexpr float kZero = 0.0f;

/// The tensor from element `offset` of its storage on.
const std::byte* advanced(const Tensor& tensor, size_t offset) {
  const bool blocks = tensor.dtype == DType::kQ8_0 || tensor.dtype == DType::kQ4_0;
  if (blocks && offset % kBlockLength != 0)
    fail("a ", to_string(tensor.dtype), " tensor of shape ", to_string(tensor.shape),
         " cannot be cut at element ", offset, ", only between its blocks of ", kBlockLength);
  return tensor.data + byte_count(tensor.dtype, offset);
}

}  // namespace

Tensor permuted(const Tensor& tensor, std::initializer_list<size_t> order) {
  assert(order.size() == tensor.shape.size());
  Tensor result{tensor.dtype, {}, {}, tensor.data};
  for (const size_t axis : order) {
    result.shape.push_back(tensor.shape[axis]);
    result.strides.push_back(tensor.strides[axis]);
  }
  return result;
}

Tensor sliced(const Tensor& tensor, size_t axis, size_t first, size_t count) {
  assert(axis < tensor.shape.size() && first + count <= tensor.shape[axis]);
  Tensor result = tensor;
  result.shape[axis] = count;
  result.data = advanced(tensor, first * tensor.strides[axis]);
  return result;
}

Tensor selected(const Tensor& tensor, size_t index) {
  Tensor result = sliced(tensor, 0, index, 1);
  result.shape.erase(result.shape.begin());
  result.strides.erase(result.strides.begin());
  return result;
}

Tensor zeros(Shape shape) {
  std::vector<size_t> strides(shape.size(), 0);
  return {DType::kF32, std::move(shape), std::move(strides),
          reinterpret_cast<const std::byte*>(&kZero)};
}

}  // namespace vit::weights
