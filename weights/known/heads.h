/// The one size that tensors do not show.
#pragma once

#include <string>

#include "vit/base/config.h"

namespace vit::weights {

/// The number of attention heads of the known models that are nearest to this one: same width, then
/// depth, tokens and pooling. Throws an Error that lists the possibilities if they disagree or none
/// is known.
size_t usual_heads(const ModelConfig& config, const std::string& where);

}  // namespace vit::weights
