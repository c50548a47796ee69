/// The query whose attention is shown: a token, or a mix of tokens.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "vit/base/enum_names.h"
#include "vit/base/recipe.h"
#include "vit/interpret/attention_maps.h"

namespace vit::interpret {

enum class QueryKind {
  kClass,
  kDistillation,
  kRegister,  ///< number `index`, from 0
  kPatch,     ///< at `row`, `col` of the grid
  kPixel,     ///< the patch under pixel `x`, `y` of the image as it was before the recipe
  kMean,      ///< all patches, equally
  kPool,      ///< the query of the attention pool
};
constexpr auto enum_names(QueryKind) {
  using enum QueryKind;
  return std::to_array<EnumName<QueryKind>>({{kClass, "cls"},
                                             {kDistillation, "distillation"},
                                             {kRegister, "register"},
                                             {kPatch, "patch"},
                                             {kPixel, "pixel"},
                                             {kMean, "mean"},
                                             {kPool, "pool"}});
}

struct Query {
  QueryKind kind = QueryKind::kClass;
  size_t index = 0;
  size_t row = 0;
  size_t col = 0;
  double x = 0.0;
  double y = 0.0;

  bool operator==(const Query&) const = default;
};

/// The query that the answer is made from: the class token, the pool, or the mean of the patches.
Query default_query(const ModelConfig& config);

/// Size of an image before the recipe, in pixels.
struct ImageSize {
  size_t width = 0;
  size_t height = 0;
};

/// Converts a pixel query to the patch that contains the pixel after resize and crop; others stay.
/// Throws an Error naming the visible part of the image if the crop excludes the pixel.
Query on_grid(const Query& query, ImageSize image, const Recipe& recipe, const TokenLayout& layout);

/// A weight per token, adding up to 1. Throws an Error if the model has no such token. A pool's
/// query is not a token: its attention is AttentionMaps::pooling.
std::vector<float> query_weights(const Query& query, const TokenLayout& layout);

/// "cls", "patch 3,4", "mean of the patches", …
std::string describe(const Query& query);

}  // namespace vit::interpret
