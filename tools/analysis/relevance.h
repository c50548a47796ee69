/// Class relevance of an analyzed image.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/analysis/image_analysis.h"
#include "vit/gradient/network.h"
#include "vit/interpret/relevance.h"

namespace vit::tools {

/// A weight per token, for each of the classes. Throws an Error if one is NaN or infinite.
std::vector<std::vector<float>> relevance_of(const gradient::Network<float>& network,
                                             const ImageAnalysis& analysis,
                                             std::span<const size_t> classes,
                                             const interpret::RelevanceOptions& options);

struct ClassRelevance {
  std::string label;
  std::vector<float> tokens;
};

/// The relevance of each of these answers, in their order, for the model's own query.
std::vector<ClassRelevance> relevance_of_answers(const Classifier& classifier,
                                                 const gradient::Network<float>& network,
                                                 const ImageAnalysis& analysis,
                                                 std::span<const Prediction> answers);

}  // namespace vit::tools
