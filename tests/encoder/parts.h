/// Random layers that remember their weights, and the same mathematics in double precision.
#pragma once

#include <cmath>
#include <vector>

#include "tests/support/near.h"
#include "tests/support/random.h"
#include "tests/support/reference.h"
#include "vit/encoder/block.h"

namespace vit::test {

/// [rows, cols] of doubles.
struct Table {
  size_t rows = 0, cols = 0;
  std::vector<double> values;

  double& operator()(size_t r, size_t c) { return values[r * cols + c]; }
  double operator()(size_t r, size_t c) const { return values[r * cols + c]; }
};

inline Table table(ConstMatrixView m) {
  return {m.rows, m.cols, reference::numbers(m)};
}

/// A linear layer and what it was packed from.
struct KnownLinear {
  Matrix weight;
  std::vector<float> bias;

  KnownLinear(size_t out, size_t in, unsigned seed)
      : weight(random_matrix(out, in, seed, 1.0f / std::sqrt(static_cast<float>(in)))),
        bias(random_vector(out, seed + 1, 0.1f)) {}

  Linear packed() const {
    return pack_linear(
        weight.rows(), weight.cols(),
        [this](size_t first, size_t count, float* rows) {
          std::copy_n(weight.view().row(first), count * weight.cols(), rows);
        },
        bias, active_isa());
  }
  Table operator()(const Table& x) const {
    Table y{x.rows, weight.rows(), std::vector<double>(x.rows * weight.rows())};
    for (size_t r = 0; r < x.rows; ++r)
      for (size_t o = 0; o < y.cols; ++o) {
        y(r, o) = bias[o];
        for (size_t k = 0; k < x.cols; ++k) y(r, o) += x(r, k) * weight(o, k);
      }
    return y;
  }
};

inline Norm random_norm(NormKind kind, size_t n, unsigned seed) {
  Norm norm{.kind = kind, .eps = 1e-6f, .weight = random_vector(n, seed)};
  if (kind == NormKind::kLayerNorm) norm.bias = random_vector(n, seed + 1);
  return norm;
}

/// Norm of each group of norm.weight.size() columns; an identity norm returns x.
inline Table normed(const Norm& norm, const Table& x) {
  if (norm.identity()) return x;
  const size_t n = norm.weight.size();
  Table y = x;
  for (size_t first = 0; first < x.rows * x.cols; first += n) {
    double mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < n && norm.kind == NormKind::kLayerNorm; ++i)
      mean += x.values[first + i] / static_cast<double>(n);
    for (size_t i = 0; i < n; ++i)
      squares += std::pow(x.values[first + i] - mean, 2) / static_cast<double>(n);
    const double scale = 1.0 / std::sqrt(squares + double{norm.eps});
    for (size_t i = 0; i < n; ++i)
      y.values[first + i] = (x.values[first + i] - mean) * scale * norm.weight[i] +
                            (norm.bias.empty() ? 0.0 : norm.bias[i]);
  }
  return y;
}

inline Table columns(const Table& x, size_t first, size_t count) {
  Table y{x.rows, count, std::vector<double>(x.rows * count)};
  for (size_t r = 0; r < x.rows; ++r)
    for (size_t c = 0; c < count; ++c) y(r, c) = x(r, first + c);
  return y;
}

inline Table sum(const Table& a, const Table& b, const std::vector<float>& scale = {}) {
  Table y = a;
  for (size_t i = 0; i < y.values.size(); ++i)
    y.values[i] += b.values[i] * (scale.empty() ? 1.0 : scale[i % y.cols]);
  return y;
}

/// Plain softmax(q·kᵀ/sqrt(d)/temperature + mask)·v, `bias` [queries, keys] or empty.
inline Table attend_plainly(const Table& q, const Table& k, const Table& v, double temperature,
                            const Table& bias) {
  Table out{q.rows, v.cols, std::vector<double>(q.rows * v.cols)};
  for (size_t i = 0; i < q.rows; ++i) {
    std::vector<double> p(k.rows);
    double total = 0.0;
    for (size_t j = 0; j < k.rows; ++j) {
      double score = 0.0;
      for (size_t c = 0; c < q.cols; ++c) score += q(i, c) * k(j, c);
      score /= std::sqrt(static_cast<double>(q.cols)) * temperature;
      p[j] = std::exp(score + (bias.values.empty() ? 0.0 : bias(i, j)));
      total += p[j];
    }
    for (size_t j = 0; j < k.rows; ++j)
      for (size_t c = 0; c < v.cols; ++c) out(i, c) += p[j] / total * v(j, c);
  }
  return out;
}

/// `tolerance` of the largest expected number.
inline double largest_difference(ConstMatrixView got, const Table& expected) {
  double worst = 0.0, largest = 0.0;
  for (size_t r = 0; r < got.rows; ++r)
    for (size_t c = 0; c < got.cols; ++c) {
      worst = std::max(worst, difference(got(r, c), expected(r, c)));
      largest = std::max(largest, std::abs(expected(r, c)));
    }
  return worst / largest;
}

/// A sublayer is two chains of at most 100 multiply-adds with a norm, a softmax or an activation
/// between: some 250 roundings of 6e-8, which add up to 1.5e-5 only if none cancels another.
constexpr double kSublayer = 1.5e-5;

}  // namespace vit::test
