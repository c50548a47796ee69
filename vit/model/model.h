/// A Vision Transformer: embedding, encoder, head. Threads share it without locks while
/// nobody changes it. Runner (vit/model/runner.h) runs images through it.
#pragma once

#include <optional>
#include <span>
#include <string>
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
  Isa isa = Isa::kBaseline;  ///< that its linear layers are packed for, and that it runs on

  size_t parameters = 0;
};

/// Opens messages about a model: its architecture, else "this model".
std::string place_of(const ModelConfig& config);

/// Observers of the stages of one forward pass; they change no bit of the result.
struct ModelTaps {
  EncoderTaps encoder;
  std::function<void(ConstMatrixView pixels)> pixels;  ///< [3, H·W]
  std::function<void(ConstMatrixView tokens)> tokens;  ///< input of block 0, [T, D]
  /// Weights of the attention pool, [H, pooled tokens].
  std::function<void(ConstMatrixView attention)> pooling;
  /// Class layers: attention of the class token [H, 1 + N], itself first, and its new value [1, D].
  ClassLayerTap class_layer;
};

/// What entered each layer of a forward pass, from which another pass can go on.
struct ForwardRecord {
  struct Layer {
    Matrix tokens;          ///< [T, D]
    MergedTokens merged{};  ///< by the layers before; empty where tokens do not merge
  };
  std::vector<Layer> layers;
};

/// Every activation of one image in a forward pass. Runner owns one.
struct ModelWorkspace {
  /// With `merge_tokens` tokens fewer after each layer, see vit/encoder/merge.h. Throws an Error if
  /// the model's blocks cannot merge.
  explicit ModelWorkspace(const Model& model, size_t merge_tokens = 0);

  patch::RecipeScratch recipe;
  Matrix pixels;   ///< [3, H·W]
  Matrix patches;  ///< [N, 3·P·P]
  Matrix tokens;   ///< [T, D]
  patch::StemScratch stem;
  Workspace encoder;
  HeadScratch head;
  std::optional<TokenMerge> merge;  ///< sizes and sources of the last image's tokens
};

}  // namespace vit
