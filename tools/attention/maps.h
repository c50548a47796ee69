/// Maps and matrices of one image.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/attention/settings.h"
#include "tools/explorer/image_analysis.h"

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
  interpret::Query query;
  std::vector<std::vector<TokenMap>> rows;
};

class Explainer;

/// Throws an Error that lists the existing layers, heads or tokens if a chosen one does not exist.
/// Only relevance needs the explainer.
MapSheet make_maps(const Classifier& classifier, const ImageAnalysis& analysis, MapMethod method,
                   const MapSettings& settings, const Explainer* explainer);

/// Whole matrices [T, T], chosen in the same way.
struct TokenMatrix {
  std::string layer;
  std::string head;
  Matrix weights;
};
std::vector<std::vector<TokenMatrix>> make_matrices(const ImageAnalysis& analysis,
                                                    const MapSettings& settings);

}  // namespace vit::tools
