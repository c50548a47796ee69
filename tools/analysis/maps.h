/// Maps and matrices of one image.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/image_analysis.h"
#include "tools/analysis/map_settings.h"
#include "vit/gradient/network.h"

namespace vit::tools {

/// A weight per token, with its layer and head.
struct TokenMap {
  std::string layer;  ///< "layer 11", "pool", "rollout", "relevance"
  std::string head;   ///< "head 2", "mean of 3 heads"
  std::vector<float> tokens;
  std::optional<Prediction> target{};  ///< the class that relevance explains
};

/// The maps of one image, in rows: a row per layer, a column per head.
struct MapSheet {
  MapMethod method = MapMethod::kAttention;
  interpret::Query query;
  std::vector<std::vector<TokenMap>> rows;
};

/// What a map of relevance explains.
struct RelevanceTargets {
  const gradient::Network<float>* network = nullptr;  ///< of the same model; other maps need none
  std::vector<size_t> classes{};                      ///< empty: the first answer
};

/// Throws an Error that lists the existing layers, heads or tokens if a chosen one does not exist.
MapSheet make_maps(const Classifier& classifier, const ImageAnalysis& analysis, MapMethod method,
                   const MapSettings& settings, const RelevanceTargets& targets);

/// Whole matrices [T, T], chosen in the same way.
struct TokenMatrix {
  std::string layer;
  std::string head;
  Matrix weights;
};
std::vector<std::vector<TokenMatrix>> make_matrices(const ImageAnalysis& analysis,
                                                    const MapSettings& settings);

}  // namespace vit::tools
