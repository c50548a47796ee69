/// The feed-forward part, plain or gated, with its way back.
#pragma once

#include "vit/gradient/linear.h"

namespace vit::gradient {

struct MlpRule {
  Activation activation = Activation::kGelu;
  bool gated = false;
  NormRule norm;
};

template <typename T>
struct MlpTrace {
  Numbers<T> expanded;   ///< [rows, F], gated [rows, 2F]: before the activation
  Numbers<T> gate;       ///< [rows, F], gated only: activation(gate)
  Numbers<T> activated;  ///< [rows, F]
  Numbers<T> normed;     ///< only with an inner norm
};

template <typename T>
struct MlpScratch {
  Numbers<T> activated;
  Numbers<T> expanded;  ///< gated only
};

template <typename T>
void feed_forward(const MlpRule& rule, const MlpPart<const T>& part, ConstView<T> x,
                  MlpTrace<T>& trace, View<T> y);

/// All that the way back goes by.
template <typename T>
struct MlpBack {
  const MlpPart<const T>& part;
  const MlpPart<T>& gradients;
  const MlpTrace<T>& trace;
  MlpScratch<T>& scratch;
};

template <typename T>
void feed_forward_back(const MlpRule& rule, const MlpBack<T>& back, ConstView<T> dy,
                       const Input<T>& input);

}  // namespace vit::gradient
