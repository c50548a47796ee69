/// What a model's answer owes to each head, measured: the head is silenced and the answer compared.
#pragma once

#include <vector>

#include "vit/model/model.h"

namespace vit::interpret {

struct HeadEffect {
  /// KL(answer || answer without the head) in nats, over the classes; 0 without a classifier.
  double divergence = 0.0;
  /// ‖difference of the outputs‖ / ‖output, its mean taken off‖.
  double change = 0.0;
  bool flips = false;  ///< another class comes first
};

/// Runs the model on workspace.pixels, and once more without each head, from its layer on. Returns
/// [layers·heads] effects.
std::vector<HeadEffect> ablate_heads(const Model& model, ModelWorkspace& workspace);

/// Of two outputs of the same model.
HeadEffect compare_outputs(std::span<const float> whole, std::span<const float> without,
                           bool classes);

}  // namespace vit::interpret
