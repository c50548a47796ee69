/// The oracle of the tests: the same mathematics, naive and in double precision.
#pragma once

#include <vector>

#include "vit/base/config.h"
#include "vit/kernels/attention_kernel.h"
#include "vit/kernels/rowwise.h"

namespace vit::reference {

/// Row-major numbers with the shape of the view they answer for.
using Numbers = std::vector<double>;

Numbers numbers(ConstMatrixView x);
/// x [rows, in] · wᵀ [out, in] + bias (empty: none)
Numbers linear(ConstMatrixView x, ConstMatrixView w, std::span<const float> bias);
double activate(Activation activation, double x);
Numbers normalize(const Norm& norm, ConstMatrixView x);
Numbers softmax(ConstMatrixView x, double temperature);

struct Attention {
  Numbers output;         ///< [queries, heads·dv]
  Numbers probabilities;  ///< [heads·queries, keys]
};
Attention attention(const AttentionCall& call);

}  // namespace vit::reference
