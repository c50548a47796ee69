/// A differentiable copy of the model, for class relevance.
#pragma once

#include "tools/cli/model_options.h"
#include "vit/gradient/network.h"

namespace vit::tools {

/// The checkpoint that the classifier was made from, in the layout of the backward pass, for the
/// classifier's input size.
gradient::Network<float> load_network(weights::Checkpoint checkpoint, const ModelSettings& settings,
                                      const Classifier& classifier);
/// As above: opens the model again.
gradient::Network<float> load_network(const ModelSettings& settings, const Classifier& classifier);

/// Throws an Error if the attention matrices of one image, layers x heads x tokens², exceed a
/// limit on memory.
void check_attention_size(const Classifier& classifier);

/// Whether class relevance is defined for this model. Merged patches have no gradient of their own.
bool explainable(const ModelConfig& config, size_t merge_tokens);

}  // namespace vit::tools
