/// The maps and matrices of one image that were asked for.
#pragma once

#include <string>
#include <vector>

#include "tools/attention/settings.h"
#include "tools/explorer/study.h"

namespace vit::tools {

/// A weight per token, and what it is.
struct TokenMap {
  std::string layer;  ///< "layer 11", "pool", "rollout", "relevance"
  std::string head;   ///< "head 2", "mean of 3 heads"
  std::vector<float> tokens;
};

/// The maps of one image, in rows: a row per layer, a column per head.
struct MapSheet {
  interpret::Query query;
  std::vector<std::vector<TokenMap>> rows;
};

class Explainer;

/// Throws an Error naming layers, heads or tokens that there are where one is asked for that is
/// not. Only relevance needs the explainer.
MapSheet make_maps(const Classifier& classifier, const Study& study, const MapSettings& settings,
                   const Explainer* explainer);

/// Whole matrices [T, T], chosen in the same way.
struct TokenMatrix {
  std::string layer;
  std::string head;
  Matrix weights;
};
std::vector<std::vector<TokenMatrix>> make_matrices(const Study& study,
                                                    const MapSettings& settings);

}  // namespace vit::tools
