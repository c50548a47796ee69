/// Row-wise mathematics on views. Every row is independent, so the workers of a pool share the
/// rows.
#pragma once

#include <span>
#include <vector>

#include "vit/base/config.h"
#include "vit/base/matrix.h"
#include "vit/kernels/execution.h"

namespace vit {

/// to = from, of the same size.
void copy_rows(ConstMatrixView from, MatrixView to);

/// Weights of a layer norm, or of an RMS norm (no bias). Without weights it changes nothing.
struct Norm {
  NormKind kind = NormKind::kLayerNorm;
  float eps = 1e-6f;
  std::vector<float> weight{};
  std::vector<float> bias{};

  bool identity() const { return weight.empty(); }
};

/// y = norm(x), row by row; y may be x.
void normalize(const Norm& norm, ConstMatrixView x, MatrixView y, const Execution& execution);

/// The same on each group of norm.weight.size() columns by itself: q/k norm on the heads of a view.
void normalize_groups(const Norm& norm, MatrixView x, const Execution& execution);

/// y = activation(x); y may be x.
void activate(Activation activation, ConstMatrixView x, MatrixView y, const Execution& execution);

/// y = activation(first half of x) · second half of x; y has half of x's columns.
void gate(Activation activation, ConstMatrixView x, MatrixView y, const Execution& execution);

/// x += layer_scale · update; an empty layer_scale is 1.
void add(ConstMatrixView update, std::span<const float> layer_scale, MatrixView x,
         const Execution& execution);

/// Cosines and sines of rotary positions, a row for each row of x, or, where heads differ, such
/// rows for head 0, then for head 1, …
struct Rotation {
  ConstMatrixView cosines{};  ///< [rows, d], or [rows, d / 2] of split halves
  ConstMatrixView sines{};
  size_t heads = 1;  ///< that differ
  bool split_halves = false;
};

/// Rotates every head of x [rows, heads·d] in place; more heads than the rotation has repeat them.
void rotate(const Rotation& rotation, size_t head_width, MatrixView x, const Execution& execution);

/// Rows of x become probabilities: softmax(x / temperature). A row of -inf alone becomes zeros.
void softmax(MatrixView x, float temperature, const Execution& execution);

}  // namespace vit
