/// Row-wise mathematics and its way back, for float (on the kernels of this machine) and double
/// (plain loops, which the tests of gradients use).
#pragma once

#include <span>

#include "vit/base/config.h"
#include "vit/gradient/numbers.h"
#include "vit/gradient/parts.h"

namespace vit::gradient {

struct NormRule {
  NormKind kind = NormKind::kLayerNorm;
  double eps = 1e-6;
};

/// y = norm(x) on each group of weight.size() columns; an empty weight copies. y may be x.
template <typename T>
void normalize(const NormRule& rule, const NormPart<const T>& norm, ConstView<T> x, View<T> y);
/// dx = the gradient at x, dy that at norm(x); dx may be dy. Gradients of the weights are added.
template <typename T>
void normalize_back(const NormRule& rule, const NormPart<const T>& norm, ConstView<T> x, View<T> dy,
                    const NormPart<T>& dnorm);

template <typename T>
void activate(Activation activation, ConstView<T> x, View<T> y);
/// dy becomes the gradient at x.
template <typename T>
void activate_back(Activation activation, ConstView<T> x, View<T> dy);

/// x becomes softmax(scale · x), row by row.
template <typename T>
void softmax(double scale, View<T> x);
/// dp, the gradient at p = softmax(scale · s), becomes that at s.
template <typename T>
void softmax_back(double scale, ConstView<T> p, View<T> dp);

/// y += x · factors, column by column; no factors: 1.
template <typename T>
void add(ConstView<T> x, std::span<const std::type_identity_t<T>> factors, View<T> y);
template <typename T>
void add(ConstView<T> x, View<T> y) {
  add<T>(x, {}, y);
}

/// sums += the sum of the rows of x.
template <typename T>
void add_column_sums(ConstView<T> x, std::span<std::type_identity_t<T>> sums);

}  // namespace vit::gradient
