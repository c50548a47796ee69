/// How a map is chosen, computed and drawn.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "tools/draw/heatmap.h"
#include "vit/base/enum_names.h"
#include "vit/interpret/query.h"
#include "vit/interpret/rollout.h"

namespace vit::tools {

enum class MapMethod { kAttention, kRollout, kRelevance };
constexpr auto enum_names(MapMethod) {
  using enum MapMethod;
  return std::to_array<EnumName<MapMethod>>(
      {{kAttention, "attention"}, {kRollout, "rollout"}, {kRelevance, "relevance"}});
}

struct MapSettings {
  bool all_layers = false;
  std::optional<long> layer;  ///< negative: from the last; unset: the last, or the attention pool
  bool all_heads = false;
  std::optional<size_t> head;  ///< unset: the heads are fused
  interpret::HeadFusion fusion = interpret::HeadFusion::kMean;
  std::optional<interpret::Query> query;  ///< unset: the token that the answer comes from
  double discard = 0.0;
  size_t start_layer = 0;
};

struct LookSettings {
  std::optional<double> threshold;  ///< contour around the patches that hold this part of the mass
  double clip_percentile = 99.5;
  Colormap colormap = Colormap::kInferno;
  double alpha = 0.6;
  Upsampling upsampling = Upsampling::kBicubic;
  bool bare = false;  ///< nothing but the map over the image
};

/// "cls", "distillation", "register:N", "ROW,COL", "x:PX,y:PX", "mean" or "pool"; none for others.
std::optional<interpret::Query> to_query(std::string_view text);

}  // namespace vit::tools
