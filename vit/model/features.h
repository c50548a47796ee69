/// What the encoder made of an image, for search, clustering and classifiers of one's own.
#pragma once

#include <string_view>
#include <vector>

#include "vit/model/model.h"

namespace vit {

enum class FeatureKind {
  kClass,    ///< the class token, [D]
  kMean,     ///< the mean of the patch tokens, [D]
  kPatches,  ///< every patch token, [N, D]
};

std::string_view to_string(FeatureKind kind);

/// Throws an Error if the model has no such tokens.
void check_features(const ModelConfig& config, FeatureKind kind);

/// Of tokens [T, D] as the last block leaves them, which are normalised in place. Where the model's
/// own head pools in this way, these are the numbers that its classifier sees.
std::vector<float> features_of(const Model& model, MatrixView tokens, FeatureKind kind);

}  // namespace vit
