/// What running a model costs, by its configuration alone.
#pragma once

#include <cstdint>

#include "vit/base/config.h"

namespace vit::weights {

/// Multiply-adds of all matrix products for one image: patch projection, linear layers, queries
/// with keys, attention with values, head. Norms, activations and softmax are not counted.
std::uint64_t multiply_adds(const ModelConfig& config);

/// Bytes of the activations of one image under way, all float32.
std::uint64_t activation_bytes(const ModelConfig& config);

}  // namespace vit::weights
