#include "vit/model/features.h"

#include <algorithm>

#include "vit/base/error.h"
#include "vit/model/model.h"

namespace vit {
namespace {

/// In the layers of the head, or among the tokens.
bool has_class_token(const ModelConfig& config) {
  return config.head.class_layers != 0 || class_token(config) != config.embedding.prefix.size();
}

}  // namespace

size_t class_token(const ModelConfig& config) {
  const auto found = std::ranges::find(config.embedding.prefix, PrefixToken::kClass);
  return static_cast<size_t>(found - config.embedding.prefix.begin());
}

FeatureKind usual_features(const ModelConfig& config) {
  if (config.head.classes == 0) return FeatureKind::kPooled;
  return has_class_token(config) ? FeatureKind::kClass : FeatureKind::kMean;
}

void check_features(const ModelConfig& config, FeatureKind kind) {
  const bool reads_class = kind == FeatureKind::kClass || kind == FeatureKind::kClassAndMean;
  if (reads_class && !has_class_token(config))
    fail_at(place_of(config), "has no class token; it has mean and patch features");
}

size_t feature_count(const ModelConfig& config, FeatureKind kind) {
  switch (kind) {
    case FeatureKind::kPatches:
      return config.embedding.grid().count() * config.encoder.width;
    case FeatureKind::kClassAndMean:
      return 2 * config.encoder.width;
    case FeatureKind::kPooled:
      return config.classifier_inputs();
    case FeatureKind::kClass:
    case FeatureKind::kMean:
      break;
  }
  return config.encoder.width;
}

}  // namespace vit
