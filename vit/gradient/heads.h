/// Products and softmax of the attention of one image, forward and backward.
#pragma once

#include "vit/gradient/linear.h"

namespace vit::gradient {

/// Scaled dot-product attention of one image, or the gradients of its matrices. Heads are column
/// ranges.
template <typename T>
struct Heads {
  View<T> queries;        ///< [queries, H·d]
  View<T> keys;           ///< [keys, KV·d]
  View<T> values;         ///< [keys, KV·d]
  View<T> probabilities;  ///< [H·queries, keys]
  size_t heads = 1;
  Operands operands;  ///< of the products
  Isa isa;
  ConstView<T> bias{};  ///< like probabilities, added to the unscaled scores, or none
};

/// Fills the probabilities and context [queries, H·d].
template <typename T>
void weigh(const Heads<T>& x, View<T> context);
/// dcontext to the gradients of the probabilities and of the values.
template <typename T>
void weigh_back(const Heads<T>& x, ConstView<T> dcontext, const Heads<T>& dx);
/// The gradients of the probabilities, overwritten by those of the scores, to those of queries and
/// keys.
template <typename T>
void score_back(const Heads<T>& x, const Heads<T>& dx);

/// The parts of weigh() without bias and softmax: queries · keysᵀ, as the probabilities.
template <typename T>
void score(const Heads<T>& x);
/// probabilities · values
template <typename T>
void read(const Heads<T>& x, View<T> context);
/// The second part of score_back(): dx.probabilities holds the gradients of the unscaled scores.
template <typename T>
void dot_back(const Heads<T>& x, const Heads<T>& dx);

/// What a softmax over these heads' scores multiplies them by.
template <typename T>
double score_scale(const Heads<T>& x);

}  // namespace vit::gradient
