/// The command line of `vit attention`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/map_settings.h"
#include "tools/cli/model_options.h"

namespace vit::tools {

/// What the output shows.
enum class View {
  kAttention,  ///< a map, or several side by side
  kRollout,
  kRelevance,
  kGrid,       ///< attention of all layers and heads
  kMatrix,     ///< whole matrices
  kPositions,  ///< of the model alone, as the filters
  kFilters,
  kPage,
};

/// How the maps of a view of maps are computed.
MapMethod method_of(View view);

/// A view that takes no image.
bool is_of_model(View view);

enum class FileKind { kPicture, kNumpy, kJson, kPage };

/// As the command line gives them.
struct AttentionSettings {
  ModelSettings model;
  std::vector<std::string> files;
  std::string output;
  FileKind kind = FileKind::kPicture;
  View view = View::kRelevance;
  /// Neither an option nor the output chose the view: a model without relevance shows attention.
  bool by_default = false;
  MapSettings map;
  std::vector<std::string> targets;  ///< these classes, by name, WordNet id or number
  LookSettings look;
};

void add_attention_options(cxxopts::Options& options);
AttentionSettings parse_attention(const cxxopts::ParseResult& arguments);

}  // namespace vit::tools
