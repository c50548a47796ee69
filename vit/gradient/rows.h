/// Row-wise mathematics, forward and backward. Float calls the kernels of an instruction set;
/// double is separate code in plain loops, for the tests of gradients, and the same for every set.
#pragma once

#include "vit/gradient/parts.h"

namespace vit::gradient {

/// y = norm(x) on each group of as many columns as the weight has; no weight: a copy. y may be x.
template <typename T>
void normalize(const NormPart<T>& norm, ConstView<T> x, View<T> y);
/// dy, the gradient at norm(x), becomes that at x.
template <typename T>
void normalize_back(const NormPart<T>& norm, ConstView<T> x, View<T> dy);

template <typename T>
void activate(Activation activation, ConstView<T> x, View<T> y, Isa isa);
/// dy, the gradient at activation(x), becomes that at x.
template <typename T>
void activate_back(Activation activation, ConstView<T> x, View<T> dy, Isa isa);

/// x becomes softmax(scale · x), row by row.
template <typename T>
void softmax(double scale, View<T> x, Isa isa);
/// dp, the gradient at p = softmax(scale · s), becomes that at s.
template <typename T>
void softmax_back(double scale, ConstView<T> p, View<T> dp, Isa isa);

/// y += x · factors, column by column; no factors: 1.
template <typename T>
void add(ConstView<T> x, ConstView<T> factors, View<T> y, Isa isa);
template <typename T>
void add(ConstView<T> x, View<T> y, Isa isa) {
  add<T>(x, {}, y, isa);
}

/// sums [1, cols] += the sum of the rows of x.
template <typename T>
void add_column_sums(ConstView<T> x, View<T> sums, Isa isa);

}  // namespace vit::gradient
