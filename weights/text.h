/// The text tower of a two-tower checkpoint.
#pragma once

#include <filesystem>

#include "vit/base/text_config.h"
#include "weights/checkpoint.h"

namespace vit::weights {

struct TextCheckpoint {
  /// Weights under the tower's own names: token_embed.weight, pos_embed, blocks.#, norm, proj. Of
  /// its other fields only path, format and layout are set.
  Checkpoint tower;
  TextConfig config;
  std::filesystem::path folder;  ///< where the weights lie, and the tokenizer's files
  float scale = 1.0f;            ///< of the cosine: exp(logit_scale)
  float bias = 0.0f;             ///< added to it
  bool sigmoid = false;  ///< probabilities are independent (SigLIP), not a softmax over the labels
};

/// Throws an Error: no text tower in the file, a tensor missing or of a wrong shape, or what open()
/// throws.
TextCheckpoint open_text(const std::filesystem::path& path);

}  // namespace vit::weights
