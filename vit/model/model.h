/// A Vision Transformer: embedding, encoder, head. Immutable after load, shared by threads without
/// locks.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "patch/embed.h"
#include "patch/recipe.h"
#include "vit/base/config.h"
#include "vit/encoder/encoder.h"
#include "vit/model/head.h"

namespace vit {

struct Model {
  ModelConfig config;  ///< image size and grid are those the model was loaded for
  patch::PatchEmbedding embedding;
  Encoder encoder;
  Head head;

  size_t parameters = 0;
};

/// Stages of one forward pass, handed out as they are reached.
struct ModelTaps {
  EncoderTaps encoder;
  std::function<void(ConstMatrixView pixels)> pixels;  ///< [3, H·W]
  std::function<void(ConstMatrixView tokens)> tokens;  ///< what enters block 0, [T, D]
  /// The attention pool's own weights, [H, pooled tokens].
  std::function<void(ConstMatrixView attention)> pooling;
};

/// Every activation of one image on its way through a model.
class ModelWorkspace {
 public:
  /// `merge` tokens fewer after each layer, see vit/encoder/merge.h. Throws an Error if the model's
  /// blocks cannot merge.
  explicit ModelWorkspace(const Model& model, size_t merge = 0);

  patch::RecipeScratch recipe;
  Matrix pixels;   ///< [3, H·W]
  Matrix patches;  ///< [N, 3·P·P]
  Matrix tokens;   ///< [T, D]
  Workspace encoder;
  HeadScratch head;
  std::optional<TokenMerge> merge;  ///< of the image that ran last: sizes and sources of its tokens
};

/// workspace.pixels to the model's answer: logits, or features where it has no classifier.
void run(const Model& model, ModelWorkspace& workspace, std::span<float> output,
         const ModelTaps* taps = nullptr);

}  // namespace vit
