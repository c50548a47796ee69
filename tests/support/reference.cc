#include "tests/support/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace vit::reference {
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

/// Adds what the mask says of (head, query, key) to a scaled score.
double masked(const AttentionCall& call, size_t head, size_t query, size_t key, double score) {
  const AttentionMask& mask = call.mask;
  const size_t queries = call.queries.rows, keys = call.keys.rows;
  if (mask.causal && key + queries > query + keys) return kHidden;
  if (!mask.bias.empty())
    score += mask.bias(mask.bias.rows == queries ? query : head * queries + query, key);
  if (!mask.key_bias.empty()) score += mask.key_bias[key];
  return score;
}

void softmax_in_place(double* x, size_t n) {
  const double highest = *std::max_element(x, x + n);
  double sum = 0.0;
  for (size_t i = 0; i < n; ++i) {
    x[i] = highest == kHidden ? 0.0 : std::exp(x[i] - highest);
    sum += x[i];
  }
  for (size_t i = 0; i < n && sum > 0.0; ++i) x[i] /= sum;
}

}  // namespace

Numbers numbers(ConstMatrixView x) {
  Numbers result;
  for (size_t r = 0; r < x.rows; ++r) result.insert(result.end(), x.row(r), x.row(r) + x.cols);
  return result;
}

Numbers linear(ConstMatrixView x, ConstMatrixView w, std::span<const float> bias) {
  Numbers y(x.rows * w.rows);
  for (size_t r = 0; r < x.rows; ++r)
    for (size_t o = 0; o < w.rows; ++o) {
      double sum = bias.empty() ? 0.0 : bias[o];
      for (size_t k = 0; k < x.cols; ++k) sum += double{x(r, k)} * double{w(o, k)};
      y[r * w.rows + o] = sum;
    }
  return y;
}

double activate(Activation activation, double x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kGelu:
      return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    case Activation::kGeluTanh:
      return 0.5 * x *
             (1.0 + std::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::kQuickGelu:
      return x / (1.0 + std::exp(-1.702 * x));
    case Activation::kRelu:
      return std::max(x, 0.0);
    case Activation::kSilu:
      return x / (1.0 + std::exp(-x));
  }
  return x;
}

Numbers normalize(const Norm& norm, ConstMatrixView x) {
  const bool centred = norm.kind == NormKind::kLayerNorm;
  const auto n = static_cast<double>(x.cols);
  Numbers y;
  for (size_t r = 0; r < x.rows; ++r) {
    double mean = 0.0, squares = 0.0;
    for (size_t c = 0; c < x.cols && centred; ++c) mean += x(r, c) / n;
    for (size_t c = 0; c < x.cols; ++c) squares += (x(r, c) - mean) * (x(r, c) - mean) / n;
    const double scale = 1.0 / std::sqrt(squares + double{norm.eps});
    for (size_t c = 0; c < x.cols; ++c)
      y.push_back((x(r, c) - mean) * scale * norm.weight[c] + (centred ? norm.bias[c] : 0.0));
  }
  return y;
}

Numbers softmax(ConstMatrixView x, double temperature) {
  Numbers y = numbers(x);
  for (double& value : y) value /= temperature;
  for (size_t r = 0; r < x.rows; ++r) softmax_in_place(y.data() + r * x.cols, x.cols);
  return y;
}

Attention attention(const AttentionCall& call) {
  const size_t queries = call.queries.rows, keys = call.keys.rows;
  const size_t d = call.head_width(), dv = call.value_width(), width = call.heads * dv;
  Attention result{Numbers(queries * width), Numbers(call.heads * queries * keys)};
  for (size_t h = 0; h < call.heads; ++h) {
    const size_t key_head = h * call.key_heads / call.heads;
    const size_t value_head = h * call.value_heads / call.heads;
    for (size_t i = 0; i < queries; ++i) {
      double* row = result.probabilities.data() + (h * queries + i) * keys;
      for (size_t j = 0; j < keys; ++j) {
        double score = 0.0;
        for (size_t k = 0; k < d; ++k)
          score += double{call.queries(i, h * d + k)} * double{call.keys(j, key_head * d + k)};
        row[j] = masked(call, h, i, j, score * double{call.scale});
      }
      softmax_in_place(row, keys);
      for (size_t j = 0; j < keys; ++j)
        for (size_t c = 0; c < dv; ++c)
          result.output[i * width + h * dv + c] += row[j] * call.values(j, value_head * dv + c);
    }
  }
  return result;
}

}  // namespace vit::reference
