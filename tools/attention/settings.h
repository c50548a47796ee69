/// The command line of `vit attention`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/cli/model_options.h"
#include "tools/draw/heatmap.h"
#include "vit/interpret/query.h"
#include "vit/interpret/rollout.h"

namespace vit::tools {

enum class MapMethod { kAttention, kRollout, kRelevance };
constexpr auto enum_names(MapMethod) {
  using enum MapMethod;
  return std::to_array<EnumName<MapMethod>>(
      {{kAttention, "attention"}, {kRollout, "rollout"}, {kRelevance, "relevance"}});
}

/// What is drawn: one map, every layer and head, whole matrices, or the model's first layer.
enum class Sheet { kMap, kGrid, kMatrix, kPositions, kFilters };

enum class FileKind { kPicture, kNumpy, kJson, kPage };

struct MapSettings {
  bool all_layers = false;
  std::optional<long> layer;  ///< negative: from the last; unset: the last, or the attention pool
  bool all_heads = false;
  std::optional<size_t> head;  ///< unset: the heads are fused
  interpret::HeadFusion fusion = interpret::HeadFusion::kMean;
  std::optional<interpret::Query> query;  ///< unset: the token that the answer comes from
  double discard = 0.0;
  size_t start_layer = 0;
  std::vector<size_t> classes;  ///< that relevance explains; empty: the first answer
};

struct LookSettings {
  std::optional<double> threshold;  ///< contour around the patches that hold this part of the mass
  double clip_percentile = 99.5;
  Colormap colormap = Colormap::kInferno;
  double alpha = 0.6;
  Upsampling upsampling = Upsampling::kBicubic;
  bool bare = false;  ///< nothing but the map over the image
};

/// As the command line gives them.
struct AttentionSettings {
  ModelSettings model;
  std::vector<std::string> files;
  std::string output;
  FileKind kind = FileKind::kPicture;
  Sheet sheet = Sheet::kMap;
  std::optional<MapMethod> method;   ///< unset: relevance, or attention for a model without it
  MapSettings map;                   ///< its classes are known when the model is
  std::vector<std::string> targets;  ///< these classes, by name, WordNet id or number
  LookSettings look;
};

void add_attention_options(cxxopts::Options& options);
AttentionSettings parse_attention(const cxxopts::ParseResult& arguments);

/// "cls", "distillation", "register:N", "ROW,COL", "x:PX,y:PX", "mean" or "pool".
interpret::Query parse_query(std::string_view text);

}  // namespace vit::tools
