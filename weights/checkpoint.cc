#include "weights/checkpoint.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "vit/base/error.h"

namespace vit::weights {

const Weight* Checkpoint::find(std::string_view name) const {
  const auto found = weights_.find(name);
  return found == weights_.end() ? nullptr : &found->second;
}

const Weight& Checkpoint::at(std::string_view name) const {
  if (const Weight* weight = find(name)) return *weight;
  fail_at(path, "tensor '", name, "' is missing");
}

std::vector<DType> Checkpoint::dtypes() const {
  std::map<DType, size_t> counts;
  for (const auto& [name, weight] : weights_)
    for (const auto& part : weight.parts()) counts[part.dtype] += element_count(part.shape);
  std::vector<DType> dtypes;
  for (const auto& [dtype, count] : counts) dtypes.push_back(dtype);
  std::stable_sort(dtypes.begin(), dtypes.end(),
                   [&](DType a, DType b) { return counts[a] > counts[b]; });
  return dtypes;
}

size_t Checkpoint::parameters() const {
  size_t sum = 0;
  for (const auto& [name, weight] : weights_) sum += weight.size();
  return sum;
}

void Checkpoint::add(std::string name, Weight weight) {
  weights_.insert_or_assign(std::move(name), std::move(weight));
}

void Checkpoint::add_numbers(std::string name, const Shape& shape, std::vector<float> numbers) {
  const auto owned = std::make_shared<const std::vector<float>>(std::move(numbers));
  add(std::move(name), Tensor{.dtype = DType::kF32,
                              .shape = shape,
                              .strides = contiguous_strides(shape),
                              .data = reinterpret_cast<const std::byte*>(owned->data())});
  keep(owned);
}

std::optional<Weight> Checkpoint::take(std::string_view name) {
  const auto found = weights_.find(name);
  if (found == weights_.end()) return {};
  Weight weight = std::move(found->second);
  weights_.erase(found);
  return weight;
}

void Checkpoint::keep(Storage storage) {
  storage_.push_back(std::move(storage));
}

void Checkpoint::release(const Weight& weight) const {
  for (const Tensor& part : weight.parts()) {
    size_t last = 0;  // of the elements, strides apart
    for (size_t axis = 0; axis < part.shape.size(); ++axis)
      if (part.shape[axis] > 0) last += (part.shape[axis] - 1) * part.strides[axis];
    for (const Storage& storage : storage_)
      storage.release({part.data, byte_count(part.dtype, last + 1)});
  }
}

}  // namespace vit::weights
