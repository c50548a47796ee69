#include "vit/interpret/query.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "patch/recipe.h"
#include "vit/base/error.h"

namespace vit::interpret {
namespace {

std::string describe_prefix(const TokenLayout& layout) {
  std::string text;
  for (size_t i = 0; i < layout.prefix.size(); ++i)
    text += (i == 0 ? "" : ", ") + token_name(layout, i);
  return text.empty() ? "no prefix tokens" : text;
}

size_t prefix_index(const Query& query, const TokenLayout& layout) {
  const PrefixToken wanted = query.kind == QueryKind::kClass          ? PrefixToken::kClass
                             : query.kind == QueryKind::kDistillation ? PrefixToken::kDistillation
                                                                      : PrefixToken::kRegister;
  size_t left = query.kind == QueryKind::kRegister ? query.index : 0;
  for (size_t i = 0; i < layout.prefix.size(); ++i)
    if (layout.prefix[i] == wanted && left-- == 0) return i;
  fail("query '", describe(query), "': the model has no such token, it has ",
       describe_prefix(layout), " and ", layout.grid.rows, "x", layout.grid.cols, " patches");
}

/// One axis of the mapping of a pixel through resize and crop.
struct Axis {
  double size;      // of the image
  double resized;   // of the resized image
  double first;     // of the window in it
  double count;     // of the window
  double padding;   // in front of the window, on the crop
  double position;  // on the crop, the result

  bool visible(double pixel) {
    const double on_resized = (pixel + 0.5) * resized / size - first;
    position = on_resized + padding;
    return on_resized >= 0.0 && on_resized < count;
  }
  long first_visible() const { return std::lround(std::ceil(first * size / resized - 0.5)); }
  long last_visible() const {
    return std::lround(std::ceil((first + count) * size / resized - 0.5)) - 1;
  }
};

}  // namespace

Query default_query(const ModelConfig& config) {
  if (config.head.class_layers != 0) return {.kind = QueryKind::kPool};  // its class token
  switch (config.head.pooling) {
    case Pooling::kClass:
    case Pooling::kClassAndMean:
      return {.kind = QueryKind::kClass};
    case Pooling::kAttention:
      return {.kind = QueryKind::kPool};
    case Pooling::kMean:
    case Pooling::kMax:
    case Pooling::kMeanMax:
      break;
  }
  return {.kind = QueryKind::kMean};
}

Query on_grid(const Query& query, ImageSize image, const Recipe& recipe,
              const TokenLayout& layout) {
  if (query.kind != QueryKind::kPixel) return query;
  const patch::Placement p = patch::place(image.width, image.height, recipe);
  const auto axis = [](size_t size, size_t resized, size_t first, size_t count, size_t padding) {
    return Axis{static_cast<double>(size),    static_cast<double>(resized),
                static_cast<double>(first),   static_cast<double>(count),
                static_cast<double>(padding), 0.0};
  };
  Axis across = axis(image.width, p.window.resized_width, p.window.x, p.window.width, p.left);
  Axis down = axis(image.height, p.window.resized_height, p.window.y, p.window.height, p.top);
  if (!across.visible(query.x) || !down.visible(query.y))
    fail("query '", describe(query), "': the crop excludes this pixel of the ", image.width, "x",
         image.height, " image; it keeps x ", across.first_visible(), " to ", across.last_visible(),
         ", y ", down.first_visible(), " to ", down.last_visible());
  const auto cell = [](double position, size_t patch, size_t count) {
    return std::min(static_cast<size_t>(position / static_cast<double>(patch)), count - 1);
  };
  return {.kind = QueryKind::kPatch,
          .row = cell(down.position, layout.patch_height, layout.grid.rows),
          .col = cell(across.position, layout.patch_width, layout.grid.cols)};
}

std::vector<float> query_weights(const Query& query, const TokenLayout& layout) {
  std::vector<float> weights(layout.tokens());
  switch (query.kind) {
    case QueryKind::kClass:
    case QueryKind::kDistillation:
    case QueryKind::kRegister:
      weights[prefix_index(query, layout)] = 1.0f;
      return weights;
    case QueryKind::kPatch:
      if (query.row >= layout.grid.rows || query.col >= layout.grid.cols)
        fail("query '", describe(query), "': the grid has rows 0 to ", layout.grid.rows - 1,
             " and columns 0 to ", layout.grid.cols - 1);
      weights[layout.patch(query.row, query.col)] = 1.0f;
      return weights;
    case QueryKind::kMean:
      std::fill(weights.begin() + static_cast<std::ptrdiff_t>(layout.first_patch()), weights.end(),
                1.0f / static_cast<float>(layout.grid.count()));
      return weights;
    case QueryKind::kPool:
      fail("query 'pool': it is not a token, and exists in the attention pool only");
    case QueryKind::kPixel:
      break;
  }
  assert(false && "pixel queries must be converted by on_grid()");
  return weights;
}

std::string describe(const Query& query) {
  const std::string name(to_string(query.kind));
  switch (query.kind) {
    case QueryKind::kRegister:
      return name + " " + std::to_string(query.index);
    case QueryKind::kPatch:
      return name + " " + std::to_string(query.row) + "," + std::to_string(query.col);
    case QueryKind::kPixel:
      return "x:" + std::to_string(std::lround(query.x)) +
             ",y:" + std::to_string(std::lround(query.y));
    case QueryKind::kMean:
      return name + " of the patches";
    case QueryKind::kClass:
    case QueryKind::kDistillation:
    case QueryKind::kPool:
      break;
  }
  return name;
}

}  // namespace vit::interpret
