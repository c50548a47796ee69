/// Tensors made of tensors without touching a number.
#pragma once

#include <initializer_list>

#include "weights/tensor.h"

namespace vit::weights {

/// Axis i of the result is axis order[i] of the tensor.
Tensor permuted(const Tensor& tensor, std::initializer_list<size_t> order);
/// `count` entries of an axis from `first` on.
Tensor sliced(const Tensor& tensor, size_t axis, size_t first, size_t count);
/// One entry of the first axis, which disappears.
Tensor selected(const Tensor& tensor, size_t index);
/// Zeros of any size: every stride is 0.
Tensor zeros(Shape shape);

}  // namespace vit::weights
