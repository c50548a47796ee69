/// y = x · Wᵀ + b and its way back.
#pragma once

#include "vit/gradient/parts.h"
#include "vit/gradient/rows.h"
#include "vit/kernels/gemm.h"

namespace vit::gradient {

template <typename T>
void linear(const LinearPart<const T>& part, ConstView<T> x, View<T> y) {
  gemm(x, part.weight, y, {.b = Transpose::kYes});
  if (part.bias.empty()) return;
  for (size_t r = 0; r < y.rows; ++r)
    add<T>(ConstView<T>(part.bias.data(), 1, y.cols), y.row_range(r, 1));
}

/// What a layer read, and where the gradient of that goes.
template <typename T>
struct Input {
  ConstView<T> x;
  View<T> dx{};             ///< empty: not wanted
  bool accumulate = false;  ///< dx is added to
};

/// dy to the gradients of the input and, added, of the weights that `dpart` has room for.
template <typename T>
void linear_back(const LinearPart<const T>& part, ConstView<T> dy, const LinearPart<T>& dpart,
                 const Input<T>& input) {
  if (!dpart.weight.empty()) gemm(dy, input.x, dpart.weight, {.a = Transpose::kYes, .beta = 1.0});
  if (!dpart.bias.empty()) add_column_sums<T>(dy, dpart.bias);
  if (!input.dx.empty()) gemm(dy, part.weight, input.dx, {.beta = input.accumulate ? 1.0 : 0.0});
}

}  // namespace vit::gradient
