/// Rotary positions and relative position biases of a checkpoint, for one grid of patches.
#pragma once

#include "vit/encoder/encoder.h"
#include "vit/model/bind.h"

namespace vit {

/// Gives every attention of `encoder` what its scores know of the tokens' places. `config` has the
/// grid to run on.
void bind_places(const WeightScope& w, const ModelConfig& config, Encoder& encoder);

}  // namespace vit
