#include "vit/interpret/rollout.h"

#include <algorithm>
#include <cassert>

#include "vit/base/error.h"

namespace vit::interpret {
namespace {

void fuse_into(HeadFusion fusion, const float* row, size_t n, float* out) {
  switch (fusion) {
    case HeadFusion::kMean:
      for (size_t j = 0; j < n; ++j) out[j] += row[j];
      return;
    case HeadFusion::kMax:
      for (size_t j = 0; j < n; ++j) out[j] = std::max(out[j], row[j]);
      return;
    case HeadFusion::kMin:
      for (size_t j = 0; j < n; ++j) out[j] = std::min(out[j], row[j]);
      return;
  }
}

/// Drops the `count` smallest; among equal ones the first.
void drop_smallest(std::span<float> weights, size_t count, std::vector<float>& sorted) {
  if (count == 0) return;
  sorted.assign(weights.begin(), weights.end());
  const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::nth_element(sorted.begin(), last, sorted.end());
  const float limit = *last;
  auto equal = static_cast<size_t>(std::count(sorted.begin(), last + 1, limit));
  for (float& weight : weights) {
    if (weight > limit) continue;
    if (weight == limit) {
      if (equal == 0) continue;  // smaller ones may follow
      --equal;
    }
    weight = 0.0f;
  }
}

void normalize_row(std::span<float> row) {
  double sum = 0.0;
  for (const float weight : row) sum += weight;
  if (sum <= 0.0) return;
  for (float& weight : row) weight = static_cast<float>(weight / sum);
}

}  // namespace

Matrix fuse_heads(ConstMatrixView layer, size_t heads, HeadFusion fusion) {
  assert(heads > 0 && layer.rows % heads == 0);
  const size_t rows = layer.rows / heads;
  Matrix fused(rows, layer.cols);
  for (size_t r = 0; r < rows; ++r) {
    float* out = fused.view().row(r);
    std::copy_n(layer.row(r), layer.cols, out);
    for (size_t h = 1; h < heads; ++h) fuse_into(fusion, layer.row(h * rows + r), layer.cols, out);
    if (fusion != HeadFusion::kMean) continue;
    for (size_t j = 0; j < layer.cols; ++j) out[j] /= static_cast<float>(heads);
  }
  return fused;
}

std::vector<float> weighted_rows(ConstMatrixView attention, std::span<const float> query) {
  assert(attention.rows == query.size());
  std::vector<float> seen(attention.cols);
  for (size_t i = 0; i < query.size(); ++i) {
    if (query[i] == 0.0f) continue;
    const float* row = attention.row(i);
    for (size_t j = 0; j < seen.size(); ++j) seen[j] += query[i] * row[j];
  }
  return seen;
}

Matrix rollout_step(const AttentionMaps& maps, size_t layer, const RolloutOptions& options) {
  Matrix step = fuse_heads(maps.layer(layer), maps.heads, options.fusion);
  const size_t first = maps.layout.first_patch(), patches = maps.layout.grid.count();
  const auto dropped = static_cast<size_t>(options.discard * static_cast<double>(patches));
  std::vector<float> sorted;
  for (size_t i = 0; i < step.rows(); ++i) {
    const std::span<float> row = step.view().row_span(i);
    drop_smallest(row.subspan(first, patches), dropped, sorted);
    normalize_row(row);
    row[i] += 1.0f;
    normalize_row(row);
  }
  return step;
}

std::vector<float> rollout(const AttentionMaps& maps, std::span<const float> query,
                           const RolloutOptions& options) {
  if (options.first_layer >= maps.layers)
    fail("rollout from layer ", options.first_layer, ": the model has layers 0 to ",
         maps.layers - 1);
  if (!(options.discard >= 0.0 && options.discard < 1.0))
    fail("rollout: the fraction to discard is ", options.discard, ", expected 0 up to below 1");
  std::vector<float> weights(query.begin(), query.end());
  for (size_t layer = maps.layers; layer-- > options.first_layer;)
    weights = weighted_rows(rollout_step(maps, layer, options), weights);
  return weights;
}

}  // namespace vit::interpret
