/// Measures the effect of each head on the output: the head is disabled and the outputs compared.
#pragma once

#include <span>
#include <vector>

#include "vit/model/runner.h"

namespace vit::interpret {

struct HeadEffect {
  /// KL(output || output without the head) in nats, over the classes, or the sum of those of
  /// independent classes; 0 without a classifier.
  double divergence = 0.0;
  /// ‖difference of the outputs‖ / ‖output minus its mean‖.
  double change = 0.0;
  bool flips = false;  ///< another class becomes the first
};

/// Runs the model on runner.pixels(), and again from each head's layer on with that head disabled.
/// Returns [layers·heads] effects, also where the runner merges tokens: without the head others may
/// merge.
std::vector<HeadEffect> measure_heads(Runner& runner);

/// Compares two outputs of a model with this head.
HeadEffect compare_outputs(std::span<const float> whole, std::span<const float> without,
                           const HeadConfig& head);

}  // namespace vit::interpret
