/// Attention with talking heads (CaiT): heads are mixed before and after the softmax.
#pragma once

#include <vector>

#include "vit/kernels/attention_kernel.h"

namespace vit {

/// The bias of the first mixing adds one number to all scores of a row, which the softmax takes
/// away; it is not kept.
struct TalkingHeads {
  Matrix before;  ///< [H, H], rows are the mixed heads
  Matrix after;   ///< [H, H]
  std::vector<float> after_bias;

  bool empty() const { return before.empty(); }
};

/// output [queries, heads·dv] = (after · softmax(before · scale · q·kᵀ) + bias) · v. As
/// attention(), for calls without a mask and with as many key heads as heads. `probabilities`
/// [heads·queries, keys] are those of the softmax.
void attention(const TalkingHeads& talking, const AttentionCall& call, MatrixView output,
               AttentionScratch& scratch, ThreadPool* pool = nullptr,
               MatrixView probabilities = {});

}  // namespace vit
