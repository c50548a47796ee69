/// What class relevance and attention maps need of a model.
#pragma once

#include "tools/cli/model_options.h"
#include "vit/gradient/network.h"

namespace vit::tools {

/// Throws an Error if the attention matrices of one image, layers x heads x tokens², exceed a
/// limit on memory.
void check_attention_size(const Classifier& classifier);

/// Whether class relevance is defined for this model. Merged patches have no gradient of their own.
bool explainable(const ModelConfig& config, size_t merge_tokens);

}  // namespace vit::tools
