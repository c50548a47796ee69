/// A model as views: each tensor in one long row of numbers, beside the place of its gradient in
/// another. Each part also holds the few constants of the configuration that its mathematics needs.
#pragma once

#include <span>
#include <vector>

#include "vit/gradient/growing_matrix.h"
#include "vit/gradient/layout.h"
#include "vit/gradient/low_rank.h"
#include "vit/kernels/cpu.h"
#include "vit/kernels/gemm.h"

namespace vit::gradient {

/// One tensor. Vectors are one row.
template <typename T>
struct Parameter {
  ConstView<T> value{};  ///< empty: the model has no such tensor
  View<T> gradient{};    ///< added to by the backward pass; empty: not wanted

  bool empty() const { return value.empty(); }
};

template <typename T>
struct LinearPart {
  Parameter<T> weight{};  ///< [out, in]
  Parameter<T> bias{};
  /// What a frozen matrix learns, where that is wanted: scale · B · A is part of its value already.
  Parameter<T> low_rank_a{};  ///< [rank, in]
  Parameter<T> low_rank_b{};  ///< [out, rank]
  Operands operands;          ///< of its products
  Isa isa;                    ///< of its kernels, in float
};

template <typename T>
struct NormPart {
  Parameter<T> weight{};  ///< empty: no norm
  Parameter<T> bias{};
  NormKind kind = NormKind::kLayerNorm;
  double eps = 1e-6;
  Isa isa;  ///< of its kernels, in float
};

/// linear(norm(x)), where the norm may be missing.
template <typename T>
struct ProjectionPart {
  NormPart<T> norm;
  LinearPart<T> linear;
};

/// A relative position bias: a table, or an MLP.
template <typename T>
struct RelativeBiasPart {
  Parameter<T> table{};    ///< [offsets (+ 3), H]
  LinearPart<T> expand{};  ///< [hidden, 2]
  LinearPart<T> contract{};

  bool empty() const { return table.empty() && expand.weight.empty(); }
};

/// What the scores of a layer know of the tokens' places.
template <typename T>
struct PlacesPart {
  RotaryConfig rotary{};
  RelativeBiasConfig bias{};
  size_t heads = 1;
  size_t head_width = 0;
  size_t prefix = 0;
  GridSize grid{};
  Parameter<T> first{};   ///< [1, H·d/2] learned frequencies of the first axis
  Parameter<T> second{};  ///< and of the second
  Parameter<T> periods{};
  RelativeBiasPart<T> own{};
  RelativeBiasPart<T> shared{};

  bool rotates() const { return rotary.kind != RotaryKind::kNone; }
  bool biased() const { return bias.kind != RelativeBiasKind::kNone; }
};

/// Heads that are mixed before and after the softmax (CaiT).
template <typename T>
struct TalkingPart {
  LinearPart<T> before;  ///< [H, H], of the scores
  LinearPart<T> after;   ///< [H, H], of the probabilities

  bool empty() const { return before.weight.empty(); }
};

template <typename T>
struct AttentionPart {
  LinearPart<T> qkv;
  Parameter<T> query_bias;  ///< where queries and values alone have one
  Parameter<T> value_bias;
  PlacesPart<T> places;
  NormPart<T> query_norm;
  NormPart<T> key_norm;
  TalkingPart<T> talking;
  ProjectionPart<T> project;
  size_t heads = 1;
  size_t key_value_heads = 1;
};

template <typename T>
struct MlpPart {
  LinearPart<T> expand;
  ProjectionPart<T> contract;
  Activation activation = Activation::kGelu;
  bool gated = false;
};

/// Both sublayers of a block, each with its norm and layer scale.
template <typename T>
struct BranchPart {
  NormPart<T> norm1;
  AttentionPart<T> attention;
  Parameter<T> scale1;
  NormPart<T> norm2;
  MlpPart<T> mlp;
  Parameter<T> scale2;
};

template <typename T>
struct EmbeddingPart {
  LinearPart<T> project;  ///< [D, 3·P·P]
  NormPart<T> norm;
  std::vector<Parameter<T>> prefix;  ///< tokens in front of the patches, [1, D] each
  Parameter<T> positions;            ///< [covered prefix + N, D]
  NormPart<T> pre_norm;
  size_t patches = 0;  ///< N of a whole image
};

/// Attention of one query per image to other tokens.
template <typename T>
struct CrossPart {
  LinearPart<T> query;
  LinearPart<T> key_value;
  LinearPart<T> project;
  size_t heads = 1;
  size_t first_key = 0;  ///< of each image's tokens, the first that is read
  Operands operands;     ///< of the products with the scores and with the values
};

/// Attention pooling.
template <typename T>
struct PoolPart {
  Parameter<T> latent;  ///< [1, D] the query of all images
  CrossPart<T> attention;
  NormPart<T> norm;
  MlpPart<T> mlp;
};

/// A layer in which the class token, which the blocks do not have, reads the patches (CaiT).
template <typename T>
struct ClassLayerPart {
  NormPart<T> norm1;
  CrossPart<T> attention;
  Parameter<T> scale1;
  NormPart<T> norm2;
  MlpPart<T> mlp;
  Parameter<T> scale2;
};

template <typename T>
struct HeadPart {
  Parameter<T> class_token;  ///< [1, D] of the class layers
  std::vector<ClassLayerPart<T>> class_layers;
  NormPart<T> final_norm;
  PoolPart<T> pool;
  NormPart<T> pooled_norm;
  LinearPart<T> pre_logits;
  bool pre_logits_tanh = true;
  bool unit_features = false;
  LinearPart<T> classifier;
  LinearPart<T> distilled;
  Pooling pooling = Pooling::kClass;
  size_t layers = 1;        ///< how many last layers are pooled
  size_t first_pooled = 0;  ///< pooling sees the tokens from this one on
};

template <typename T>
struct ModelParts {
  EmbeddingPart<T> embedding;
  std::vector<std::vector<BranchPart<T>>> blocks;  ///< the branches of each block
  HeadPart<T> head;
};

/// The rows that the tensors of a model are views of, and how it computes.
template <typename T>
struct ModelRows {
  std::span<const T> numbers;
  /// What backward() adds to, in the order of the layout (of low_rank, if there is one); empty: no
  /// gradient of a parameter is wanted, which halves the cost.
  std::span<T> gradients{};
  /// If not null, `learned` are the numbers of this layout, merged into `numbers`.
  const LowRankLayout* low_rank = nullptr;
  std::span<const T> learned{};
  Operands operands = Operands::kF32;  ///< of the products
  Isa isa = active_isa();              ///< of all kernels, in float: by default the machine's best
};

template <typename T>
ModelParts<T> bind_parts(const ModelConfig& config, const Layout& layout, const ModelRows<T>& rows);

}  // namespace vit::gradient
