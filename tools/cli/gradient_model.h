/// A differentiable copy of the model, for class relevance.
#pragma once

#include "tools/cli/model_options.h"
#include "vit/gradient/network.h"

namespace vit::tools {

/// Reads the weights again, in the layout of the backward pass, for the classifier's input size.
gradient::Network<float> load_network(const ModelSettings& settings, const Classifier& classifier);

/// Throws an Error if the attention matrices of one image, layers x heads x tokens², exceed a
/// limit on memory.
void check_attention_size(const Classifier& classifier);

/// Whether class relevance is defined for this model.
bool explainable(const ModelConfig& config);

}  // namespace vit::tools
