/// A model as views into one long row of numbers: its parameters (E is const) or their gradients.
#pragma once

#include <span>
#include <vector>

#include "vit/base/config.h"
#include "vit/base/matrix.h"
#include "vit/gradient/layout.h"

namespace vit::gradient {

/// Anything may be empty: the model has none, or nobody wants its gradient.
template <typename E>
struct LinearPart {
  BasicMatrixView<E> weight;  ///< [out, in]
  std::span<E> bias;          ///< out numbers
};

template <typename E>
struct NormPart {
  std::span<E> weight;
  std::span<E> bias;
};

template <typename E>
struct AttentionPart {
  LinearPart<E> qkv;
  NormPart<E> query_norm;
  NormPart<E> key_norm;
  NormPart<E> output_norm;
  LinearPart<E> project;
};

template <typename E>
struct MlpPart {
  LinearPart<E> expand;
  NormPart<E> norm;
  LinearPart<E> contract;
};

/// Both sublayers, each with its norm and layer scale.
template <typename E>
struct BranchPart {
  NormPart<E> norm1;
  AttentionPart<E> attention;
  std::span<E> scale1;
  NormPart<E> norm2;
  MlpPart<E> mlp;
  std::span<E> scale2;
};

template <typename E>
struct BlockPart {
  std::vector<BranchPart<E>> branches;
};

template <typename E>
struct EmbeddingPart {
  LinearPart<E> project;  ///< [D, 3·P·P]
  NormPart<E> norm;
  BasicMatrixView<E> class_token;  ///< [1, D]
  BasicMatrixView<E> distillation_token;
  BasicMatrixView<E> registers;
  BasicMatrixView<E> positions;  ///< [covered prefix + N, D]
  NormPart<E> pre_norm;
};

template <typename E>
struct PoolPart {
  BasicMatrixView<E> latent;  ///< [1, D]
  LinearPart<E> query;
  LinearPart<E> key_value;
  LinearPart<E> project;
  NormPart<E> norm;
  MlpPart<E> mlp;
};

template <typename E>
struct HeadPart {
  NormPart<E> final_norm;
  PoolPart<E> pool;
  NormPart<E> pooled_norm;
  LinearPart<E> pre_logits;
  LinearPart<E> classifier;
  LinearPart<E> distilled;
};

template <typename E>
struct ModelParts {
  EmbeddingPart<E> embedding;
  std::vector<BlockPart<E>> blocks;
  HeadPart<E> head;
};

/// `numbers` null: every view is empty, which as a gradient means that none is wanted.
template <typename E>
ModelParts<E> bind_parts(const ModelConfig& config, const Layout& layout, E* numbers);

}  // namespace vit::gradient
