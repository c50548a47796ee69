/// The model once more, as one that can be differentiated: for class relevance.
#pragma once

#include "tools/cli/model_options.h"
#include "vit/gradient/network.h"

namespace vit::tools {

/// Reads the weights again, in the layout of the backward pass, for the classifier's input size.
gradient::Network<float> load_network(const ModelSettings& settings, const Classifier& classifier);

/// Throws an Error if the attention matrices of one image, layers x heads x tokens², are more than
/// a machine should be asked to hold.
void check_attention_size(const Classifier& classifier);

/// Whether class relevance is defined for this model.
bool explainable(const ModelConfig& config);

}  // namespace vit::tools
