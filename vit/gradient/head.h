/// Encodings to logits, forward and backward: final norm, every pooling, classifier.
#pragma once

#include "vit/gradient/attention.h"
#include "vit/gradient/class_layers.h"
#include "vit/gradient/mlp.h"

namespace vit::gradient {

/// Of attention pooling.
template <typename T>
struct PoolActivations {
  CrossActivations<T> attention;
  GrowingMatrix<T> attended;  ///< [B, D]
  GrowingMatrix<T> normed;
  MlpActivations<T> mlp;
};

/// A layer before the last that is pooled too.
template <typename T>
struct EarlierLayer {
  ConstView<T> tokens;          ///< [B·T, D] after the layer, kept by the part that read them next
  std::vector<size_t> largest;  ///< [B·D], the token that max pooling took
};

template <typename T>
struct HeadActivations {
  size_t images = 1;                     ///< B
  std::vector<EarlierLayer<T>> earlier;  ///< in the order of the layers
  GrowingMatrix<T> layer;                ///< memory for the gradient at the tokens of one of them
  GrowingMatrix<T> tokens;               ///< [B·T, D] after the blocks
  ClassLayersActivations<T> class_layers;
  GrowingMatrix<T> class_tokens;         ///< [B, D] after the class layers
  ClassLayerActivations<T> class_layer;  ///< memory for the gradients of one class layer
  GrowingMatrix<T> normed;               ///< tokens or class tokens after the final norm
  PoolActivations<T> pool;
  std::vector<size_t> largest;  ///< [B·D], the token that max pooling took
  GrowingMatrix<T> pooled;      ///< [B, pooled width]
  GrowingMatrix<T> features;    ///< after the norm on them
  GrowingMatrix<T> hidden;      ///< after the pre-logits layer, if there is one
  GrowingMatrix<T> unit;        ///< scaled to length 1, if the classifier reads that
  std::vector<T> lengths;       ///< [B], what they were divided by
  GrowingMatrix<T> distilled;   ///< [B, D], the distillation token, if it has a classifier
  GrowingMatrix<T> logits;      ///< [B, outputs]
};

/// kept.tokens, and those of kept.earlier, to kept.logits.
template <typename T>
void answer(const HeadPart<T>& part, HeadActivations<T>& kept);

/// `dlogits` [B, outputs] to d.tokens [B·T, D]. `d` is memory for the gradients at what was kept;
/// `hook`, which may be empty, sees the attention pool's own attention, [H, pooled tokens], or that
/// of each class layer, [H, 1 + T].
template <typename T>
void answer_back(const HeadPart<T>& part, HeadActivations<T>& kept, HeadActivations<T>& d,
                 ConstView<T> dlogits, const AttentionHook<T>& hook);

/// After answer_back(), while the gradient passes the blocks: d.tokens, that at the tokens after
/// the layer kept.earlier[index], gets what the head itself read of them added.
template <typename T>
void read_layer_back(const HeadPart<T>& part, const HeadActivations<T>& kept, HeadActivations<T>& d,
                     size_t index);

// In pooling.cc: tokens after the final norm to pooled ones.
template <typename T>
void pool_tokens(const HeadPart<T>& part, HeadActivations<T>& kept);
template <typename T>
void pool_earlier(const HeadPart<T>& part, HeadActivations<T>& kept, size_t index);
template <typename T>
void pool_earlier_back(const HeadPart<T>& part, const HeadActivations<T>& kept,
                       HeadActivations<T>& d, size_t index);
/// d.features, the gradient at the pooled tokens, to what is added to d.tokens.
template <typename T>
void pool_tokens_back(const HeadPart<T>& part, HeadActivations<T>& kept, HeadActivations<T>& d,
                      const AttentionHook<T>& hook);

}  // namespace vit::gradient
