#include "vit/model/features.h"

#include <algorithm>

#include "vit/base/error.h"

namespace vit {
namespace {

void add_mean(ConstMatrixView tokens, std::vector<float>& out) {
  for (size_t r = 0; r < tokens.rows; ++r)
    for (size_t c = 0; c < tokens.cols; ++c) out[c] += tokens(r, c);
  for (float& value : out) value /= static_cast<float>(tokens.rows);
}

size_t class_token(const ModelConfig& config) {
  const auto found = std::ranges::find(config.embedding.prefix, PrefixToken::kClass);
  return static_cast<size_t>(found - config.embedding.prefix.begin());
}

}  // namespace

std::string_view to_string(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::kClass:
      return "cls";
    case FeatureKind::kMean:
      return "mean";
    case FeatureKind::kPatches:
      break;
  }
  return "patches";
}

void check_features(const ModelConfig& config, FeatureKind kind) {
  if (kind == FeatureKind::kClass && class_token(config) == config.embedding.prefix.size())
    fail(config.architecture, ": this model has no class token; it has mean and patch features");
}

std::vector<float> features_of(const Model& model, MatrixView tokens, FeatureKind kind) {
  const size_t prefix = model.config.embedding.prefix.size();
  normalize(model.head.final_norm, tokens, tokens);
  const ConstMatrixView patches = tokens.row_range(prefix, tokens.rows - prefix);
  std::vector<float> features(kind == FeatureKind::kPatches ? patches.rows * patches.cols
                                                            : tokens.cols);
  switch (kind) {
    case FeatureKind::kClass:
      std::ranges::copy(tokens.row_span(class_token(model.config)), features.begin());
      break;
    case FeatureKind::kMean:
      add_mean(patches, features);
      break;
    case FeatureKind::kPatches:
      for (size_t r = 0; r < patches.rows; ++r)
        std::ranges::copy(patches.row_span(r),
                          features.begin() + static_cast<std::ptrdiff_t>(r * patches.cols));
      return features;
  }
  const Pooling own = kind == FeatureKind::kClass ? Pooling::kClass : Pooling::kMean;
  const MatrixView row{features.data(), 1, features.size()};
  if (model.head.pooling == own) normalize(model.head.pooled_norm, row, row);
  return features;
}

}  // namespace vit
