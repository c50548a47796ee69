/// One layer of the encoder with its way back: every kind of block that the encoder knows.
#pragma once

#include <span>
#include <vector>

#include "vit/gradient/attention.h"
#include "vit/gradient/mlp.h"

namespace vit::gradient {

struct BlockRule {
  BlockKind kind = BlockKind::kPreNorm;
  AttentionRule attention;
  MlpRule mlp;
  NormRule norm;
};

/// What one residual step leaves behind: x' = x + scale · f(norm(x)), with the norm where the kind
/// of block has it.
template <typename T>
struct StepTrace {
  Numbers<T> x;       ///< what the step read
  Numbers<T> in;      ///< what f read, where that is a normed x
  Numbers<T> update;  ///< what f gave
  Numbers<T> normed;  ///< what the norm after f gave (residual post-norm) or read (post-norm)
};

template <typename T>
struct BranchTrace {
  StepTrace<T> attention_step;
  AttentionTrace<T> attention;
  StepTrace<T> mlp_step;
  MlpTrace<T> mlp;
};

template <typename T>
struct BlockTrace {
  std::vector<BranchTrace<T>> branches;
};

/// Buffers of the way back; shared by all blocks.
template <typename T>
struct BlockScratch {
  AttentionScratch<T> attention;
  MlpScratch<T> mlp;
  Numbers<T> incoming;  ///< the gradient that several branches read
  Numbers<T> update;    ///< at f's output
  Numbers<T> in;        ///< at f's input
};

/// Factors on the updates of each image, for drop path: `attention` and `mlp` have one per image.
template <typename T>
struct PathScale {
  std::span<const T> attention{};  ///< empty: 1
  std::span<const T> mlp{};
};

/// tokens [B·T, D] are updated in place.
template <typename T>
void forward(const BlockRule& rule, const BlockPart<const T>& part, const PathScale<T>& paths,
             BlockTrace<T>& trace, View<T> tokens);

/// All that the way back goes by.
template <typename T>
struct BlockBack {
  const BlockPart<const T>& part;
  const BlockPart<T>& gradients;
  const BlockTrace<T>& trace;
  BlockScratch<T>& scratch;
  PathScale<T> paths{};
  const AttentionHook<T>* hook = nullptr;
  size_t layer = 0;
};

/// `gradient` [B·T, D], that at the tokens after the block, becomes that at the tokens before it.
template <typename T>
void backward(const BlockRule& rule, const BlockBack<T>& back, View<T> gradient);

}  // namespace vit::gradient
