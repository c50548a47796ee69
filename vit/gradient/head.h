/// Encodings to logits, with the way back: final norm, every pooling, classifier.
#pragma once

#include "vit/gradient/attention.h"
#include "vit/gradient/mlp.h"

namespace vit::gradient {

struct HeadRule {
  size_t images = 1;  ///< B
  size_t prefix = 1;
  Pooling pooling = Pooling::kClass;
  bool pool_prefix = false;
  size_t heads = 1;  ///< of attention pooling
  MlpRule mlp;       ///< of attention pooling
  NormRule norm;
};

template <typename T>
struct PoolTrace {
  Numbers<T> query;          ///< [1, D]
  Numbers<T> key_value;      ///< [B·T, 2D]
  Numbers<T> probabilities;  ///< [B·H, pooled tokens]
  Numbers<T> context;        ///< [B, D]
  Numbers<T> attended;       ///< [B, D]
  Numbers<T> normed;
  MlpTrace<T> mlp;
};

template <typename T>
struct HeadTrace {
  Numbers<T> tokens;  ///< [B·T, D] before the final norm
  Numbers<T> normed;  ///< after it
  PoolTrace<T> pool;
  std::vector<size_t> largest;  ///< [B·D], the token that max pooling took
  Numbers<T> pooled;            ///< [B, pooled width]
  Numbers<T> features;          ///< after the norm on them
  Numbers<T> hidden;            ///< after tanh, if there is a pre-logits layer
  Numbers<T> distilled;         ///< [B, D], the distillation token, if it has a classifier
  Numbers<T> logits;            ///< [B, outputs]
};

template <typename T>
struct HeadScratch {
  Numbers<T> features;
  Numbers<T> distilled;
  Numbers<T> pooled;
  Numbers<T> key_value;
  Numbers<T> query;
  Numbers<T> query_sum;
  Numbers<T> probabilities;
  Numbers<T> rows;
  MlpScratch<T> mlp;
};

/// trace.tokens to trace.logits.
template <typename T>
void answer(const HeadRule& rule, const HeadPart<const T>& part, HeadTrace<T>& trace);

template <typename T>
struct HeadBack {
  const HeadPart<const T>& part;
  const HeadPart<T>& gradients;
  const HeadTrace<T>& trace;
  HeadScratch<T>& scratch;
  const AttentionHook<T>* pooling_hook = nullptr;  ///< the attention pool's own, [H, pooled tokens]
};

/// `dlogits` [B, outputs] to `dtokens` [B·T, D], overwritten.
template <typename T>
void answer_back(const HeadRule& rule, const HeadBack<T>& back, ConstView<T> dlogits,
                 View<T> dtokens);

// The parts of it that have a file of their own: trace.normed to trace.pooled and back.
template <typename T>
void pool_tokens(const HeadRule& rule, const PoolPart<const T>& part, HeadTrace<T>& trace);
/// dpooled to what is added to dtokens.
template <typename T>
void pool_tokens_back(const HeadRule& rule, const HeadBack<T>& back, View<T> dpooled,
                      View<T> dtokens);

}  // namespace vit::gradient
