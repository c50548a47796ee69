/// The table of kernels per instruction set. The kernels are written once in the files *.inl and
/// compiled once per instruction set in isa/. They work on raw rows; other modules call
/// rowwise.h, linear.h and attention_kernel.h, which work on views.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vit/base/config.h"
#include "vit/base/int8.h"
#include "vit/kernels/cpu.h"

namespace vit {

/// Where the outputs of a linear layer go, and what happens to them before.
struct TileOutput {
  size_t rows;
  size_t columns;     ///< outputs to write; the last panel may be partly filled
  const float* bias;  ///< one per column, or null
  Activation activation;
  const float* layer_scale;  ///< one per column, or null
  const float* residual;     ///< null: none; may be y itself
  size_t residual_stride;
  float* y;
  size_t y_stride;
};

/// y = epilogue(x · W): out.rows rows of x against as many panels as out.columns fill.
struct LinearTile {
  TileOutput out;
  const float* x;
  size_t x_stride;
  const float* panels;  ///< [panel][in][panel width]
  size_t in;
  size_t cached;  ///< numbers of x that stay in the second-level cache while panels pass by
};

constexpr size_t kInt8Panel = 16;  ///< outputs side by side

/// The same on 8-bit numbers, see int8_linear.h.
struct Int8Tile {
  TileOutput out;
  const std::uint8_t* x;
  size_t x_stride;
  const float* row_scales;
  const std::int32_t* row_zeros;
  const std::int8_t* panels;
  size_t inner;                ///< a multiple of kInt8Group
  const float* column_scales;  ///< whole panels
  const std::int32_t* column_sums;
};

/// What a byte of a quantized row stands for: scale · (byte - zero).
struct QuantizedRow {
  float scale;
  std::int32_t zero;
};

/// Plain product for attention: c = row_scale · (a · panel).
struct ProductTile {
  const float* a;
  size_t a_stride;
  size_t rows;
  const float* panel;  ///< [inner][panel width]
  size_t inner;
  const float* row_scale;  ///< one per row, or null
  float* c;
  size_t c_stride;
};

/// Weights of attention before they are divided by their sums:
/// c = 2^(factor · (starts + a · panels) - a shift of the row's own).
struct ScoreTile {
  const float* a;
  size_t a_stride;
  size_t rows;
  const float* panels;  ///< [panel][inner][panel width]
  size_t inner;
  const float* starts;   ///< finite numbers for the columns of whole panels; null: 0
  size_t starts_stride;  ///< from one row's starts to the next; 0: the same for all. May be c.
  size_t keys;           ///< at least a panel of them; the last panel may be partly filled
  float factor;          ///< what a score is worth, as a power of two
  float* c;              ///< rows of whole panels; what is behind `keys` means nothing
  size_t c_stride;
  float*
      totals;   ///< one per row: the sum of its weights; 2^120 or more, or NaN, if any may be wrong
  float* sums;  ///< scratch, rows · half the panel width
  float* bases;  ///< scratch, rows
};

/// One row of the backward pass through a layer norm or an RMS norm.
struct NormBackwardRow {
  const float* x;
  const float* gamma;
  const float* dy;
  float eps;
  size_t n;
  float* dx;      ///< overwritten; may be dy
  float* dgamma;  ///< added to; null: not computed
  float* dbeta;   ///< added to; null: not computed
};

/// The backward pass through the row-wise kernels: gradients of a loss with respect to inputs.
struct BackwardKernels {
  void (*layer_norm)(const NormBackwardRow& row);
  void (*rms_norm)(const NormBackwardRow& row);
  /// dx = activation'(x) · dy; dx may be dy.
  void (*activation)(Activation activation, const float* x, const float* dy, float* dx, size_t n);
  /// ds = scale · p · (dp - sum(p · dp)), where p = softmax(scale · s); ds may be dp.
  void (*softmax)(const float* p, const float* dp, float scale, float* ds, size_t n);
};

/// Longest part of the inner dimension that a panel of multiply() holds.
constexpr size_t kMultiplyInner = 256;

/// c = alpha · op(a) · op(b) + bias + beta · c, see multiply.h. "Turned": stored as the transpose.
struct MultiplyCall {
  const float* a;
  size_t a_stride;
  bool a_turned;
  const float* b;
  size_t b_stride;
  bool b_turned;
  size_t rows;
  size_t inner;
  size_t columns;
  float alpha;
  float beta;
  const float* bias;  ///< added to every row, one number per column; null: none
  float* c;
  size_t c_stride;
  float* panel;  ///< scratch, kMultiplyInner · panel width
};

/// Parts of a product in bfloat16: this much of the inner dimension at a time, because a panel of
/// 32 columns stays in the first-level cache, and this many rows of the left side, because they
/// stay in the second-level cache.
constexpr size_t kBf16Inner = 512;
constexpr size_t kBf16Rows = 256;

using Bf16 = std::uint16_t;  ///< the upper half of a float

/// Up to 2 x 2 tiles of 16 x 16 sums, see bf16.inl.
struct Bf16Block {
  const Bf16* a;
  const Bf16* b;
  size_t next;  ///< numbers from one row or column of tiles to the next
  size_t steps;
  const float* start;   ///< what the sums begin with; null: zero
  size_t start_stride;  ///< numbers; 0: every row begins alike
  float* out;
  size_t out_stride;
};

/// dots[r] = x[r] · y, see dots.h.
template <typename Number>
struct RowDots {
  const Number* x;
  size_t x_stride;
  size_t rows;
  size_t n;
  const float* y;
  float* dots;
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
  /// Rotary positions of one head, in place. Neighbours form pairs, and each sine is there twice,
  /// first negated: x = x · cosines + neighbour(x) · sines.
  void (*rotate_neighbours)(const float* cosines, const float* sines, float* x, size_t n);
  /// Numbers n / 2 apart form pairs, with n / 2 cosines and sines.
  void (*rotate_halves)(const float* cosines, const float* sines, float* x, size_t n);

  void (*dot_rows)(const RowDots<float>& call);
  void (*dot_half_rows)(const RowDots<std::uint16_t>& call);

  void (*linear)(const LinearTile& tile);
  void (*int8_linear)(const Int8Tile& tile);
  /// The version without VNNI, for tests that compare both; elsewhere the same function.
  void (*int8_linear_without_vnni)(const Int8Tile& tile);
  QuantizedRow (*quantize_row)(const float* x, std::uint8_t* q, size_t n);
  /// Exactly panel_width columns of c.
  void (*product)(const ProductTile& tile);
  void (*scores)(const ScoreTile& tile);
  void (*multiply)(const MultiplyCall& call);
  /// On numbers rounded to bfloat16; call.panel holds both sides, see multiply.cc.
  /// Null where the machine has no such instructions.
  void (*multiply_bf16)(const MultiplyCall& call);
  /// The version without AMX, for tests that compare both; null where there is none.
  void (*multiply_bf16_without_amx)(const MultiplyCall& call);

  BackwardKernels backward;
};

/// `isa` must be one of available_isas().
const IsaKernels& isa_kernels(Isa isa);

}  // namespace vit
