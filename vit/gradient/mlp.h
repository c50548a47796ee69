/// The feed-forward part, plain or gated, forward and backward.
#pragma once

#include "vit/gradient/linear.h"

namespace vit::gradient {

template <typename T>
struct MlpActivations {
  GrowingMatrix<T> expanded;   ///< [rows, F], gated [rows, 2F]: before the activation
  GrowingMatrix<T> gate;       ///< [rows, F], gated only: activation(gate)
  GrowingMatrix<T> activated;  ///< [rows, F]
  GrowingMatrix<T> normed;     ///< only with an inner norm
};

/// `accumulate`: y is added to.
template <typename T>
void feed_forward(const MlpPart<T>& part, ConstView<T> x, MlpActivations<T>& kept, View<T> y,
                  bool accumulate = false);

/// `d` is memory for the gradients at what was kept.
template <typename T>
void feed_forward_back(const MlpPart<T>& part, const MlpActivations<T>& kept, MlpActivations<T>& d,
                       const Back<T>& back);

}  // namespace vit::gradient
