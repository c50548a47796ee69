#include "vit/encoder/merge.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "vit/kernels/multiply.h"

namespace vit {
namespace {

MatrixView reuse(Matrix& buffer, size_t rows, size_t cols) {
  if (buffer.size() < rows * cols) buffer = Matrix(rows, cols);
  return {buffer.data(), rows, cols};
}

void scale_to_unit_length(std::span<float> row) {
  double squares = 0.0;
  for (const float x : row) squares += double{x} * double{x};
  const auto factor = static_cast<float>(squares > 0.0 ? 1.0 / std::sqrt(squares) : 0.0);
  for (float& x : row) x *= factor;
}

/// into = mean of both, weighted; the sum of the weights is returned.
float merge_rows(std::span<const float> from, float from_size, std::span<float> into,
                 float into_size) {
  const float total = from_size + into_size;
  for (size_t c = 0; c < into.size(); ++c)
    into[c] = (into[c] * into_size + from[c] * from_size) / total;
  return total;
}

}  // namespace

void TokenMerge::start(size_t tokens) {
  merged_.sizes.assign(tokens, 1.0f);
  key_bias_.assign(tokens, 0.0f);
  merged_.sources.resize(tokens);
  std::iota(merged_.sources.begin(), merged_.sources.end(), 0u);
}

void TokenMerge::resume(const MergedTokens& merged) {
  merged_ = merged;
  set_key_bias();
}

MatrixView TokenMerge::merge(ConstMatrixView keys, size_t heads, MatrixView tokens, Isa isa) {
  std::vector<float>& sizes = merged_.sizes;
  assert(keys.rows == tokens.rows && sizes.size() == tokens.rows);
  match(average_keys(keys, heads), isa);
  for (const Pair& pair : pairs_)
    sizes[pair.into] = merge_rows(tokens.row_span(pair.from), sizes[pair.from],
                                  tokens.row_span(pair.into), sizes[pair.into]);
  return compact(tokens);
}

ConstMatrixView TokenMerge::average_keys(ConstMatrixView keys, size_t heads) {
  const size_t width = keys.cols / heads;
  const MatrixView metric = reuse(metric_, keys.rows, width);
  for (size_t r = 0; r < keys.rows; ++r) {
    std::copy_n(keys.row(r), width, metric.row(r));
    for (size_t h = 1; h < heads; ++h)
      for (size_t c = 0; c < width; ++c) metric(r, c) += keys(r, h * width + c);
    scale_to_unit_length(metric.row_span(r));
  }
  return metric;
}

void TokenMerge::match(ConstMatrixView metric, Isa isa) {
  pairs_.clear();
  const size_t tokens = metric.rows, width = metric.cols;
  const size_t evens = (tokens + 1) / 2, odds = tokens / 2;
  if (odds == 0) return;
  // Even and odd tokens are views of every other row.
  const ConstMatrixView first(metric.data, evens, width, 2 * width);
  const ConstMatrixView second(metric.data + width, odds, width, 2 * width);
  const MatrixView similarity = reuse(similarity_, evens, odds);
  multiply(first, second, similarity, {.b = Transpose::kYes}, isa);

  const size_t first_even = (prefix_ + 1) / 2, first_odd = prefix_ / 2;
  if (first_odd >= odds) return;
  for (size_t even = first_even; even < evens; ++even) {
    const std::span<const float> row = similarity.row_span(even);
    const auto best =
        std::max_element(row.begin() + static_cast<std::ptrdiff_t>(first_odd), row.end());
    pairs_.push_back({2 * even, 2 * static_cast<size_t>(best - row.begin()) + 1, *best});
  }
  const size_t free = tokens > prefix_ ? tokens - prefix_ : 0;
  const size_t keep = std::min({per_layer_, free / 2, pairs_.size()});
  const auto nearest = [](const Pair& a, const Pair& b) {
    return a.similarity != b.similarity ? a.similarity > b.similarity : a.from < b.from;
  };
  std::partial_sort(pairs_.begin(), pairs_.begin() + static_cast<std::ptrdiff_t>(keep),
                    pairs_.end(), nearest);
  pairs_.resize(keep);
  std::sort(pairs_.begin(), pairs_.end(),
            [](const Pair& a, const Pair& b) { return a.from < b.from; });
}

MatrixView TokenMerge::compact(MatrixView tokens) {
  moved_.resize(tokens.rows);
  size_t left = 0;
  auto pair = pairs_.begin();
  for (size_t r = 0; r < tokens.rows; ++r) {
    if (pair != pairs_.end() && pair->from == r) {
      ++pair;
      continue;
    }
    if (left != r) std::copy_n(tokens.row(r), tokens.cols, tokens.row(left));
    merged_.sizes[left] = merged_.sizes[r];
    moved_[r] = static_cast<std::uint32_t>(left++);
  }
  for (const Pair& merged : pairs_) moved_[merged.from] = moved_[merged.into];
  for (std::uint32_t& source : merged_.sources) source = moved_[source];
  merged_.sizes.resize(left);
  set_key_bias();
  return tokens.row_range(0, left);
}

void TokenMerge::set_key_bias() {
  key_bias_.resize(merged_.sizes.size());
  std::transform(merged_.sizes.begin(), merged_.sizes.end(), key_bias_.begin(),
                 [](float s) { return std::log(s); });
}

}  // namespace vit
