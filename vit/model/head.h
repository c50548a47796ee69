/// From encodings to the model's answer: norm, pool, project.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "vit/encoder/attention.h"
#include "vit/encoder/mlp.h"
#include "vit/model/class_layers.h"

namespace vit {

/// SigLIP's MAP head: a learned query attends to the tokens; x = attention, then x += mlp(norm(x)).
struct AttentionPool {
  Matrix latent;  ///< [1, D]
  Attention attention;
  Norm norm;
  Mlp mlp;
};

struct Head {
  ClassLayers class_layers;  ///< before all that follows, or none
  Norm final_norm;           ///< on the tokens, or none
  Pooling pooling = Pooling::kClass;
  size_t layers = 1;         ///< how many last layers are pooled
  size_t first_layer = 0;    ///< the first of them
  size_t prefix = 1;         ///< tokens in front of the patches
  bool pool_prefix = false;  ///< whether they are pooled too
  std::optional<AttentionPool> attention_pool;
  Norm pooled_norm;   ///< on the pooled features, or none
  Linear pre_logits;  ///< empty: none
  bool pre_logits_tanh = true;
  bool unit_features = false;  ///< what the classifier reads is scaled to length 1
  Linear classifier;           ///< empty: the pooled features are the output
  Linear distilled;            ///< the distillation token's own classifier; empty: none
  bool distills = false;  ///< the output is the mean of both tokens' logits, or of their features
};

/// What a head reads.
struct HeadInput {
  MatrixView tokens;               ///< [T, D], or the needed ones of them; normalised in place
  std::span<const float> sizes{};  ///< how many tokens each represents; empty: one each
  MatrixView attention{};          ///< [H, pooled tokens] of an attention pool, filled if not empty
  const ClassLayerTap* class_layer = nullptr;  ///< observes class layers
};

/// Buffers that the head reuses from image to image.
struct HeadScratch {
  std::vector<float> pooled;  ///< of each pooled layer, the earliest first
  std::vector<float> hidden;
};

/// The head reads the first N tokens only (0 = all).
size_t needed_tokens(const Head& head);

/// What a head reads of the tokens after a layer.
struct LayerInput {
  size_t layer = 0;
  ConstMatrixView tokens;          ///< [T, D], left as they are
  std::span<const float> sizes{};  ///< as in HeadInput
};

/// Pools the tokens after a layer before the last into `scratch`, if the head reads that layer. All
/// such layers come before pool_features() or answer(), with the same scratch.
void read_layer(const Head& head, const LayerInput& input, const Resources& resources,
                HeadScratch& scratch);

/// What the classifier reads: tokens normalised, pooled and passed through the pre-logits.
/// `features` has the length of one pooled row; a distilled head averages the features of both its
/// tokens.
void pool_features(const Head& head, const HeadInput& input, const Resources& resources,
                   HeadScratch& scratch, std::span<float> features);

/// The model's answer: logits, or the pooled features where there is no classifier.
void answer(const Head& head, const HeadInput& input, const Resources& resources,
            HeadScratch& scratch, std::span<float> output);

/// The class token as the classifier reads it, where there are class layers.
void read_class_token(const Head& head, const HeadInput& input, const Resources& resources,
                      std::span<float> out);

/// Mean of tokens [T, D], each weighted by its size (empty: 1).
void mean_of(ConstMatrixView tokens, std::span<const float> sizes, std::span<float> out);

WorkspaceShape workspace_shape(const Head& head, size_t tokens);

}  // namespace vit
