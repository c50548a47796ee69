/// Multi-head attention that remembers what its way back needs. A batch is B sequences of equal
/// length, one after the other.
#pragma once

#include <functional>

#include "vit/gradient/linear.h"

namespace vit::gradient {

/// The attention of one image: queries of head 0, then of head 1, …; [H·T, keys].
template <typename T>
struct AttentionTap {
  size_t layer = 0;
  size_t branch = 0;
  size_t image = 0;  ///< of the batch
  ConstView<T> probabilities{};
  ConstView<T> gradient{};  ///< of what backward() was given, with respect to the probabilities
};

template <typename T>
using AttentionHook = std::function<void(const AttentionTap<T>&)>;

/// Scaled dot-product attention of one image over heads that are column ranges.
template <typename T>
struct HeadsCall {
  ConstView<T> queries;  ///< [queries, H·d]
  ConstView<T> keys;     ///< [keys, KV·d]
  ConstView<T> values;
  size_t heads = 1;
  size_t key_value_heads = 1;

  size_t head_width() const { return queries.cols / heads; }
};

/// probabilities [H·queries, keys] and context [queries, H·d] are filled.
template <typename T>
void weigh(const HeadsCall<T>& call, View<T> probabilities, View<T> context);

template <typename T>
struct HeadsGradient {
  View<T> queries;
  View<T> keys;
  View<T> values;
  View<T> probabilities;  ///< [H·queries, keys]
};

/// dcontext to the gradients of the probabilities and of the values.
template <typename T>
void weigh_back(const HeadsCall<T>& call, ConstView<T> probabilities, ConstView<T> dcontext,
                const HeadsGradient<T>& gradient);
/// Those of the probabilities, overwritten by those of the scores, to those of queries and keys.
template <typename T>
void score_back(const HeadsCall<T>& call, ConstView<T> probabilities,
                const HeadsGradient<T>& gradient);

/// What differs between one self-attention and another.
struct AttentionRule {
  size_t images = 1;  ///< B
  size_t heads = 1;
  size_t key_value_heads = 1;
  size_t head_width = 1;
  NormRule norm;
};

template <typename T>
struct AttentionTrace {
  Numbers<T> raw;  ///< [B·T, (H+KV)·d] queries and keys before q/k norm, if there is one
  Numbers<T> qkv;  ///< [B·T, (H+2·KV)·d]
  Numbers<T> probabilities;   ///< [B·H·T, T]
  Numbers<T> context;         ///< [B·T, H·d]
  Numbers<T> normed_context;  ///< only with a norm before the projection
};

template <typename T>
struct AttentionScratch {
  Numbers<T> qkv;
  Numbers<T> context;
  Numbers<T> probabilities;
};

/// x, y: [B·T, D]
template <typename T>
void attend(const AttentionRule& rule, const AttentionPart<const T>& part, ConstView<T> x,
            AttentionTrace<T>& trace, View<T> y);

/// All that the way back goes by: the weights, what the way there left, where the gradients of the
/// weights go, and who looks on.
template <typename T>
struct AttentionBack {
  const AttentionPart<const T>& part;
  const AttentionPart<T>& gradients;
  const AttentionTrace<T>& trace;
  AttentionScratch<T>& scratch;
  const AttentionHook<T>* hook = nullptr;  ///< null or empty: nobody
  size_t layer = 0;
  size_t branch = 0;
};

template <typename T>
void attend_back(const AttentionRule& rule, const AttentionBack<T>& back, ConstView<T> dy,
                 const Input<T>& input);

}  // namespace vit::gradient
