/// Heads into one, and layers into one: how attention travels from the answer to the patches.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "vit/interpret/attention_maps.h"

namespace vit::interpret {

enum class HeadFusion { kMean, kMax, kMin };

std::string_view to_string(HeadFusion fusion);

/// [H·rows, T] to [rows, T]: the heads of one layer, or those of a pool with one row each. Rows of
/// a maximum or minimum do not add up to 1.
Matrix fuse_heads(ConstMatrixView layer, size_t heads, HeadFusion fusion);

/// Where a query looks: the mix of the rows of `attention` [T, T] by its weights.
std::vector<float> look(ConstMatrixView attention, std::span<const float> query);

struct RolloutOptions {
  HeadFusion fusion = HeadFusion::kMean;
  /// Of each query's weights on patches, the smallest ones that make this fraction of their number
  /// are dropped. Prefix tokens are kept: the way to the answer leads through them.
  double discard = 0.0;
  size_t first_layer = 0;
};

/// Abnar & Zuidema's step: half the fused attention, rows normalised, half the residual. [T, T]
Matrix rollout_step(const AttentionMaps& maps, size_t layer, const RolloutOptions& options);

/// query · step(last) · … · step(first_layer): a weight per token, adding up to what the query's
/// weights do. One row costs T² per layer; the whole matrix is never built.
std::vector<float> rollout(const AttentionMaps& maps, std::span<const float> query,
                           const RolloutOptions& options);

}  // namespace vit::interpret
