/// y = x · Wᵀ + b, forward and backward.
#pragma once

#include "vit/gradient/rows.h"
#include "vit/kernels/multiply.h"

namespace vit::gradient {

/// What the backward pass of a layer is given besides its weights.
template <typename T>
struct Back {
  ConstView<T> dy;          ///< the gradient at the layer's output
  ConstView<T> x;           ///< the layer's input
  View<T> dx{};             ///< receives the gradient at the input; empty: not wanted
  bool accumulate = false;  ///< dx is added to instead of overwritten
};

/// `accumulate`: y is added to.
template <typename T>
void linear(const LinearPart<T>& part, ConstView<T> x, View<T> y, bool accumulate = false) {
  multiply(x, part.weight.value, part.bias.value, y,
           {.b = Transpose::kYes, .beta = accumulate ? 1.0 : 0.0, .operands = part.operands},
           part.isa);
}

/// The gradients of A and B of W + scale · B · A, without that of W:
/// dB += scale · dyᵀ · (x·Aᵀ), dA += scale · (dy·B)ᵀ · x.
template <typename T>
void low_rank_back(const LinearPart<T>& part, const Back<T>& back) {
  const Parameter<T>&a = part.low_rank_a, &b = part.low_rank_b;
  const Product into{.operands = part.operands};
  const Product sum{
      .a = Transpose::kYes, .alpha = LowRankLayout::kScale, .beta = 1.0, .operands = part.operands};
  GrowingMatrix<T> inner(back.x.rows, a.value.rows);
  multiply(back.x, a.value, inner.view(), {.b = Transpose::kYes, .operands = part.operands},
           part.isa);
  multiply(back.dy, ConstView<T>(inner), b.gradient, sum, part.isa);
  multiply(back.dy, b.value, inner.view(), into, part.isa);
  multiply(ConstView<T>(inner), back.x, a.gradient, sum, part.isa);
}

template <typename T>
void linear_back(const LinearPart<T>& part, const Back<T>& back) {
  const View<T> dweight = part.weight.gradient, dbias = part.bias.gradient;
  if (!dweight.empty())
    multiply(back.dy, back.x, dweight,
             {.a = Transpose::kYes, .beta = 1.0, .operands = part.operands}, part.isa);
  if (!part.low_rank_a.empty()) low_rank_back<T>(part, back);
  if (!dbias.empty()) add_column_sums<T>(back.dy, dbias, part.isa);
  if (!back.dx.empty())
    multiply(back.dy, part.weight.value, back.dx,
             {.beta = back.accumulate ? 1.0 : 0.0, .operands = part.operands}, part.isa);
}

/// `normed` keeps norm(x), where there is a norm.
template <typename T>
void project(const ProjectionPart<T>& part, ConstView<T> x, GrowingMatrix<T>& normed, View<T> y,
             bool accumulate) {
  if (part.norm.weight.empty()) return linear<T>(part.linear, x, y, accumulate);
  normed.resize(x.rows, x.cols);
  normalize<T>(part.norm, x, normed);
  linear<T>(part.linear, normed, y, accumulate);
}

template <typename T>
void project_back(const ProjectionPart<T>& part, const GrowingMatrix<T>& normed,
                  const Back<T>& back) {
  assert(!back.accumulate);  // the way back through the norm overwrites
  linear_back<T>(part.linear,
                 {back.dy, part.norm.weight.empty() ? back.x : normed.view(), back.dx});
  normalize_back<T>(part.norm, back.x, back.dx);
}

}  // namespace vit::gradient
