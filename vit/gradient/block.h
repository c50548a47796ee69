/// One layer of the encoder, forward and backward: every kind of block that the encoder knows.
#pragma once

#include <vector>

#include "vit/gradient/attention.h"
#include "vit/gradient/mlp.h"
#include "vit/gradient/step.h"

namespace vit::gradient {

template <typename T>
struct BranchActivations {
  StepActivations<T> attention_step;
  AttentionActivations<T> attention;
  StepActivations<T> mlp_step;
  MlpActivations<T> mlp;
};

/// A block on a batch: its branches, and the factors of drop path.
template <typename T>
struct Block {
  BlockKind kind = BlockKind::kPreNorm;
  const std::vector<BranchPart<T>>& branches;
  ConstView<T> paths{};        ///< [2, B] factors on the updates by attention and MLP; empty: 1
  size_t images = 1;           ///< B
  KeptPatches kept_patches{};  ///< of all images; empty: each has all its patches
};

/// tokens [B·T, D] are updated in place; `kept` has an element per branch.
template <typename T>
void forward(const Block<T>& block, std::vector<BranchActivations<T>>& kept, View<T> tokens);

/// `gradient` [B·T, D], that at the tokens after the block, becomes that at the tokens before it.
/// `d` is memory for the gradients at what was kept.
template <typename T>
void backward(const Block<T>& block, std::vector<BranchActivations<T>>& kept,
              BranchActivations<T>& d, View<T> gradient, const HookAt<T>& hook);

}  // namespace vit::gradient
