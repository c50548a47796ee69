/// CaiT's last layers, forward and backward: a class token, which the blocks never saw, reads the
/// patches.
#pragma once

#include <vector>

#include "vit/gradient/cross.h"
#include "vit/gradient/mlp.h"
#include "vit/gradient/step.h"

namespace vit::gradient {

template <typename T>
struct ClassLayerActivations {
  StepActivations<T> attention_step;
  GrowingMatrix<T> patches;  ///< [B·N, D] normed
  GrowingMatrix<T> memory;   ///< [B·(1 + N), D] class token and patches of each image, normed
  CrossActivations<T> attention;
  StepActivations<T> mlp_step;
  MlpActivations<T> mlp;
};

template <typename T>
using ClassLayersActivations = std::vector<ClassLayerActivations<T>>;

/// `patches` [B·N, D] to `tokens` [B, D], which is overwritten.
template <typename T>
void read_patches(const HeadPart<T>& part, ConstView<T> patches, ClassLayersActivations<T>& kept,
                  View<T> tokens);

/// What the backward pass of the class layers is given.
template <typename T>
struct ReadBack {
  View<T> dtokens;  ///< [B, D], the gradient at the result; overwritten
  ConstView<T> patches;
  View<T> dpatches;  ///< added to
};

/// `hook`, which may be empty, sees each layer's attention [H, 1 + N], of the last layer first.
template <typename T>
void read_patches_back(const HeadPart<T>& part, ClassLayersActivations<T>& kept,
                       ClassLayerActivations<T>& d, const ReadBack<T>& back,
                       const AttentionHook<T>& hook);

}  // namespace vit::gradient
