/// Every attention matrix of one image, and the meaning of its tokens.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "vit/model/model.h"
#include "vit/model/runner.h"

namespace vit::interpret {

/// Prefix tokens first, then the patches, row by row.
struct TokenLayout {
  std::vector<PrefixToken> prefix;
  GridSize grid;
  size_t patch_height = 16;  ///< pixels
  size_t patch_width = 16;

  size_t first_patch() const { return prefix.size(); }
  size_t tokens() const { return prefix.size() + grid.count(); }
  size_t patch(size_t row, size_t col) const { return first_patch() + row * grid.cols + col; }
};

TokenLayout token_layout(const ModelConfig& config);

/// "cls", "distillation", "register 2", "patch 3,4": registers are counted from 0.
std::string token_name(const TokenLayout& layout, size_t token);

struct AttentionMaps {
  TokenLayout layout;
  size_t layers = 0;
  size_t heads = 0;           ///< per layer; heads of parallel branches follow one another
  Matrix weights;             ///< [layers·heads·T, T]: one row per query
  Matrix pooling;             ///< [heads, T] of an attention pool, zero for tokens it does not see
  std::vector<float> output;  ///< logits, or features without a classifier

  size_t tokens() const { return layout.tokens(); }
  /// [H·T, T]
  ConstMatrixView layer(size_t index) const {
    return weights.view().row_range(index * heads * tokens(), heads * tokens());
  }
  /// [T, T]
  ConstMatrixView head(size_t layer_index, size_t head_index) const {
    return layer(layer_index).row_range(head_index * tokens(), tokens());
  }
};

bool all_finite(std::span<const float> numbers);

/// Runs the model on runner.pixels(). Throws an Error if attention or output is NaN or infinite.
/// Where tokens merge, each original token keeps its row and column: it has the row of the token
/// that contains it, and an equal share of the attention that this token receives.
AttentionMaps capture(Runner& runner);

/// The part of a per-token map that belongs to the patches.
std::span<const float> patches_of(const TokenLayout& layout, std::span<const float> tokens);
/// The sum over the prefix tokens.
double prefix_mass(const TokenLayout& layout, std::span<const float> tokens);

}  // namespace vit::interpret
