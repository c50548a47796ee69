/// Cross-attention with one query per image, forward and backward: the class token of a class
/// layer, or the learned query of an attention pool.
#pragma once

#include "vit/gradient/attention.h"

namespace vit::gradient {

template <typename T>
struct CrossActivations {
  GrowingMatrix<T> query;          ///< [B, D], or [1, D] that all images share; of gradients [B, D]
  GrowingMatrix<T> key_value;      ///< [B·M, 2D]
  GrowingMatrix<T> probabilities;  ///< [B·H, keys]; of gradients one image's
  GrowingMatrix<T> context;        ///< [B, D]
};

/// What the queries, and the keys and values, are made of.
template <typename T>
struct CrossInputs {
  ConstView<T> queries;  ///< [B, D], or [1, D] that all images share
  ConstView<T> memory;   ///< [B·M, D]
};

/// y: [B, D]. `accumulate`: y is added to.
template <typename T>
void cross_attend(const CrossPart<T>& part, const CrossInputs<T>& in, CrossActivations<T>& kept,
                  View<T> y, bool accumulate = false);

/// What the backward pass is given besides the weights.
template <typename T>
struct CrossBack {
  ConstView<T> dy;
  CrossInputs<T> in;
  View<T> dqueries;         ///< receives the gradient at the queries; empty: not wanted
  View<T> dmemory;          ///< and at the memory
  bool accumulate = false;  ///< both are added to instead of overwritten
};

/// `d` is memory for the gradients at what was kept. `hook` sees the attention [H, keys] of each
/// image.
template <typename T>
void cross_attend_back(const CrossPart<T>& part, CrossActivations<T>& kept, CrossActivations<T>& d,
                       const CrossBack<T>& back, const HookAt<T>& hook);

}  // namespace vit::gradient
