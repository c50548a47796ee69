/// Softmax in double, for losses and statistics. The passes of models use the kernels' own.
#pragma once

#include <span>

namespace vit {

/// Fills in the probabilities, as many as logits, and returns log Σ exp(logits).
double softmax_in_double(std::span<const float> logits, std::span<double> probabilities);

}  // namespace vit
