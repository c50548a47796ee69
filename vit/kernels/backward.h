/// The way back through the row-wise kernels: gradients of a loss with respect to their inputs.
#pragma once

#include <cstddef>

#include "vit/base/config.h"
#include "vit/kernels/cpu.h"

namespace vit {

/// One row on its way back through a layer norm (or an RMS norm).
struct NormBackwardRow {
  const float* x;
  const float* gamma;
  const float* dy;
  float eps;
  size_t n;
  float* dx;      ///< overwritten; may be dy
  float* dgamma;  ///< added to; null: not wanted
  float* dbeta;   ///< added to; null: not wanted
};

struct BackwardKernels {
  void (*layer_norm)(const NormBackwardRow& row);
  void (*rms_norm)(const NormBackwardRow& row);
  /// dx = activation'(x) · dy; dx may be dy.
  void (*activation)(Activation activation, const float* x, const float* dy, float* dx, size_t n);
  /// ds = scale · p · (dp - sum(p · dp)), where p = softmax(scale · s); ds may be dp.
  void (*softmax)(const float* p, const float* dp, float scale, float* ds, size_t n);
};

/// `isa` must be one of available_isas().
const BackwardKernels& backward_kernels(Isa isa = active_isa());

}  // namespace vit
