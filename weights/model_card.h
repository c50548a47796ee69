/// Everything about a model except its weights.
#pragma once

#include <string>
#include <vector>

#include "vit/base/config.h"
#include "vit/base/recipe.h"

namespace vit::weights {

struct ModelCard {
  ModelConfig config;
  Recipe recipe;
  std::vector<std::string> labels;         ///< one per class, or empty
  std::vector<std::string> wordnet_ids{};  ///< one per class, or empty
  std::vector<std::string> assumptions{};  ///< what no file states and was assumed, as sentences
};

}  // namespace vit::weights
