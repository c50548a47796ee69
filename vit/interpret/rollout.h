/// Fusion of heads, and attention rollout through the layers.
#pragma once

#include <span>
#include <vector>

#include "vit/base/enum_names.h"
#include "vit/interpret/attention_maps.h"

namespace vit::interpret {

enum class HeadFusion { kMean, kMax, kMin };

constexpr auto enum_names(HeadFusion) {
  using enum HeadFusion;
  return std::to_array<EnumName<HeadFusion>>({{kMean, "mean"}, {kMax, "max"}, {kMin, "min"}});
}

/// [H·rows, T] to [rows, T]: the heads of one layer, or those of a pool with one row each. Rows of
/// a maximum or minimum do not add up to 1.
Matrix fuse_heads(ConstMatrixView layer, size_t heads, HeadFusion fusion);

/// The attention of a query: the rows of `attention` [T, T], weighted by the query.
std::vector<float> weighted_rows(ConstMatrixView attention, std::span<const float> query);

struct RolloutOptions {
  HeadFusion fusion = HeadFusion::kMean;
  /// Of each query's weights on patches, the smallest ones that make this fraction of their number
  /// are dropped. Prefix tokens are kept, because information flows through them.
  double discard = 0.0;
  size_t first_layer = 0;
};

/// Abnar & Zuidema's step: half the fused attention, rows normalised, half the residual. [T, T]
Matrix rollout_step(const AttentionMaps& maps, size_t layer, const RolloutOptions& options);

/// query · step(last) · … · step(first_layer): a weight per token, with the same sum as the query's
/// weights. One row costs T² per layer; the whole matrix is never built.
std::vector<float> rollout(const AttentionMaps& maps, std::span<const float> query,
                           const RolloutOptions& options);

}  // namespace vit::interpret
