/// What an encoder computes of an image: input of search, clustering and new classifiers.
#pragma once

#include <cstddef>
#include <string_view>

#include "vit/base/config.h"
#include "vit/base/enum_names.h"

namespace vit {

enum class FeatureKind {
  kClass,         ///< the class token, [D]
  kMean,          ///< the mean of the patch tokens, [D]
  kPatches,       ///< every patch token, [N, D]
  kClassAndMean,  ///< the class token, then the mean, [2·D]
  kPooled,        ///< what the model's own classifier reads
};
constexpr auto enum_names(FeatureKind) {
  using enum FeatureKind;
  return std::to_array<EnumName<FeatureKind>>({{kClass, "cls"},
                                               {kMean, "mean"},
                                               {kClassAndMean, "cls-and-mean"},
                                               {kPooled, "pooled"},
                                               {kPatches, "patches"}});
}

/// The features that cosines compare best: what a model without a classifier was published for,
/// else the class token, or the mean where there is none.
FeatureKind usual_features(const ModelConfig& config);

/// Throws an Error if the model has no such tokens.
void check_features(const ModelConfig& config, FeatureKind kind);

/// Numbers per image.
size_t feature_count(const ModelConfig& config, FeatureKind kind);

/// Index of the class token among the prefix tokens; their number where there is none.
size_t class_token(const ModelConfig& config);

}  // namespace vit
