/// Whose look is shown: the token, or the mix of tokens, that asks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "vit/base/recipe.h"
#include "vit/interpret/attention_maps.h"

namespace vit::interpret {

enum class QueryKind {
  kClass,
  kDistillation,
  kRegister,  ///< `index` of them, from 0
  kPatch,     ///< at `row`, `col` of the grid
  kPixel,     ///< the patch under pixel `x`, `y` of the image as it was before the recipe
  kMean,      ///< all patches, equally
  kPool,      ///< the query of the attention pool
};

struct Query {
  QueryKind kind = QueryKind::kClass;
  size_t index = 0;
  size_t row = 0;
  size_t col = 0;
  double x = 0.0;
  double y = 0.0;

  bool operator==(const Query&) const = default;
};

/// The query whose encoding becomes the answer: the class token, the pool, or the mean of patches.
Query default_query(const ModelConfig& config);

/// Size of an image before the recipe, in pixels.
struct ImageSize {
  size_t width = 0;
  size_t height = 0;
};

/// A pixel query as the patch that the recipe's resize and crop put it in; others as they are.
/// Throws an Error naming the visible part of the image if the crop left the pixel out.
Query on_grid(const Query& query, ImageSize image, const Recipe& recipe, const TokenLayout& layout);

/// A weight per token, adding up to 1. Throws an Error if the model has no such token. A pool's
/// query is none of the tokens: see pool_weights().
std::vector<float> query_weights(const Query& query, const TokenLayout& layout);

/// "cls", "patch 3,4", "mean of the patches", …
std::string describe(const Query& query);

}  // namespace vit::interpret
