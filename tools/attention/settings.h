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

/// What is drawn: one map, every layer and head, whole matrices, or the model's first layer.
enum class Sheet { kMap, kGrid, kMatrix, kPositions, kFilters };

enum class FileKind { kPicture, kNumpy, kJson, kPage };

struct MapSettings {
  MapMethod method = MapMethod::kAttention;
  /// The method is the default: relevance, or attention for a model that has no class relevance.
  bool method_is_default = false;
  bool all_layers = false;
  std::optional<long> layer;  ///< negative: from the last; unset: the last, or the attention pool
  bool all_heads = false;
  std::optional<size_t> head;  ///< unset: the heads are fused
  interpret::HeadFusion fusion = interpret::HeadFusion::kMean;
  std::optional<interpret::Query> query;  ///< unset: the token that the answer comes from
  double discard = 0.0;
  size_t start_layer = 0;
  /// The classes that relevance explains, by label or number; empty: the first answer.
  std::vector<std::string> targets;
};

struct LookSettings {
  std::optional<double> threshold;  ///< contour around the patches that hold this part of the mass
  double clip_percentile = 99.5;
  Colormap colormap = Colormap::kInferno;
  double alpha = 0.6;
  Upsampling upsampling = Upsampling::kBicubic;
  bool bare = false;  ///< nothing but the map over the image
};

struct AttentionSettings {
  ModelSettings model;
  std::vector<std::string> files;
  std::string output;
  FileKind kind = FileKind::kPicture;
  Sheet sheet = Sheet::kMap;
  MapSettings map;
  LookSettings look;
  bool relevance = false;  ///< shown, as the map or in the page; decided when the model is known
};

void add_attention_options(cxxopts::Options& options);
AttentionSettings parse_attention(const cxxopts::ParseResult& arguments);

/// "cls", "distillation", "register:N", "ROW,COL", "x:PX,y:PX", "mean" or "pool".
interpret::Query parse_query(std::string_view text);

}  // namespace vit::tools
