/// Attention of one image whose heads are mixed before and after the softmax, forward and backward.
#pragma once

#include "vit/gradient/heads.h"

namespace vit::gradient {

/// Also the gradients at them.
template <typename T>
struct TalkingActivations {
  GrowingMatrix<T> scores;  ///< [B·H·T, T] before they are mixed and scaled; of gradients none
  GrowingMatrix<T> mixed;  ///< [H·T, T] of one image: the mixed probabilities, which the values are
                           ///< multiplied by
};

/// One image: x.probabilities are those of the softmax. The bias of the first mixing adds one
/// number to each row of scores, which the softmax takes away: it is left out, and its gradient is
/// 0.
template <typename T>
void weigh(const TalkingPart<T>& part, const Heads<T>& x, View<T> scores, GrowingMatrix<T>& mixed,
           View<T> context);
/// dcontext to the gradients of the probabilities, of the values and of the second mixing.
template <typename T>
void weigh_back(const TalkingPart<T>& part, const Heads<T>& x, TalkingActivations<T>& kept,
                ConstView<T> dcontext, const Heads<T>& dx, TalkingActivations<T>& d);
/// The gradients of the probabilities to those of queries, keys and the first mixing.
template <typename T>
void score_back(const TalkingPart<T>& part, const Heads<T>& x, ConstView<T> scores,
                const Heads<T>& dx, TalkingActivations<T>& d);

}  // namespace vit::gradient
