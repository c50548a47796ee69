/// The table of kernels per instruction set. Written once in vector.inl, rowwise.inl and tile.inl,
/// compiled into one namespace per instruction set in isa_kernels.cc. Raw rows inside, views
/// outside: rowwise.h, linear.h and attention_kernel.h are what the rest of the house calls.
#pragma once

#include <cstddef>

#include "vit/base/config.h"
#include "vit/kernels/cpu.h"

namespace vit {

/// y = epilogue(x · W): `rows` rows of x against `panels` panels of packed weights.
struct LinearTile {
  const float* x;
  size_t x_stride;
  size_t rows;
  const float* panels;  ///< [panel][in][panel width]
  size_t in;
  size_t columns;     ///< outputs to write; the last panel may be partly filled
  const float* bias;  ///< one per column, or null
  Activation activation;
  const float* layer_scale;  ///< one per column, or null
  const float* residual;     ///< null: none; may be y itself
  size_t residual_stride;
  float* y;
  size_t y_stride;
};

/// Plain product for attention: c = row_scale · (a · b), b read in place with its stride.
struct ProductTile {
  const float* a;
  size_t a_stride;
  size_t rows;
  const float* b;
  size_t b_stride;
  size_t inner;
  const float* row_scale;  ///< one per row, or null
  float* c;
  size_t c_stride;
};

struct IsaKernels {
  Isa isa;
  size_t panel_width;  ///< columns that one tile holds in registers

  // One row each; y may be x.
  void (*layer_norm_row)(const float* x, const float* gamma, const float* beta, float eps, float* y,
                         size_t n);
  void (*rms_norm_row)(const float* x, const float* gamma, float eps, float* y, size_t n);
  void (*activation_row)(Activation activation, const float* x, float* y, size_t n);
  void (*gate_row)(Activation activation, const float* gate, const float* value, float* y,
                   size_t n);
  void (*add_row)(const float* update, const float* layer_scale, float* x, size_t n);
  /// x becomes exp(scale · (x - max)), the sum of which is returned; -inf gives 0.
  float (*exp_row)(float* x, size_t n, float scale);
  void (*scale_row)(const float* x, float factor, float* y, size_t n);

  void (*linear)(const LinearTile& tile);
  /// Exactly panel_width columns of c.
  void (*product)(const ProductTile& tile);
};

/// `isa` must be one of available_isas().
const IsaKernels& isa_kernels(Isa isa);

}  // namespace vit
