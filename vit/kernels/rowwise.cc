#include "vit/kernels/rowwise.h"

#include <algorithm>
#include <cassert>

#include "vit/base/owners.h"
#include "vit/kernels/isa_kernels.h"

namespace vit {
namespace {

void normalize_row(const IsaKernels& kernels, const Norm& norm, const float* x, float* y) {
  const size_t n = norm.weight.size();
  if (norm.kind == NormKind::kLayerNorm)
    kernels.layer_norm_row(x, norm.weight.data(), norm.bias.data(), norm.eps, y, n);
  else
    kernels.rms_norm_row(x, norm.weight.data(), norm.eps, y, n);
}

}  // namespace

void copy_rows(ConstMatrixView from, MatrixView to) {
  assert(from.rows == to.rows && from.cols == to.cols);
  for (size_t r = 0; r < from.rows; ++r) std::copy_n(from.row(r), from.cols, to.row(r));
}

void normalize(const Norm& norm, ConstMatrixView x, MatrixView y, const Execution& execution) {
  assert(x.rows == y.rows && x.cols == y.cols);
  if (norm.identity()) {
    if (x.data == y.data) return;
    for_each_row(execution.pool, x.rows,
                 [&](size_t r) { std::copy_n(x.row(r), x.cols, y.row(r)); });
    return;
  }
  assert(norm.weight.size() == x.cols);
  const IsaKernels& kernels = isa_kernels(execution.isa);
  for_each_row(execution.pool, x.rows,
               [&](size_t r) { normalize_row(kernels, norm, x.row(r), y.row(r)); });
}

void normalize_groups(const Norm& norm, MatrixView x, const Execution& execution) {
  if (norm.identity()) return;
  const size_t width = norm.weight.size();
  assert(x.cols % width == 0);
  const IsaKernels& kernels = isa_kernels(execution.isa);
  for_each_row(execution.pool, x.rows, [&](size_t r) {
    for (float* group = x.row(r); group < x.row(r) + x.cols; group += width)
      normalize_row(kernels, norm, group, group);
  });
}

void activate(Activation activation, ConstMatrixView x, MatrixView y, const Execution& execution) {
  assert(x.rows == y.rows && x.cols == y.cols);
  const IsaKernels& kernels = isa_kernels(execution.isa);
  for_each_row(execution.pool, x.rows,
               [&](size_t r) { kernels.activation_row(activation, x.row(r), y.row(r), x.cols); });
}

void gate(Activation activation, ConstMatrixView x, MatrixView y, const Execution& execution) {
  assert(x.rows == y.rows && x.cols == 2 * y.cols);
  const IsaKernels& kernels = isa_kernels(execution.isa);
  for_each_row(execution.pool, x.rows, [&](size_t r) {
    kernels.gate_row(activation, x.row(r), x.row(r) + y.cols, y.row(r), y.cols);
  });
}

void add(ConstMatrixView update, std::span<const float> layer_scale, MatrixView x,
         const Execution& execution) {
  assert(x.rows == update.rows && x.cols == update.cols);
  assert(layer_scale.empty() || layer_scale.size() == x.cols);
  const float* scale = layer_scale.empty() ? nullptr : layer_scale.data();
  const IsaKernels& kernels = isa_kernels(execution.isa);
  for_each_row(execution.pool, x.rows,
               [&](size_t r) { kernels.add_row(update.row(r), scale, x.row(r), x.cols); });
}

void rotate(const Rotation& rotation, size_t head_width, MatrixView x, const Execution& execution) {
  assert(x.cols % head_width == 0 && rotation.cosines.rows % rotation.heads == 0);
  assert(x.rows <= rotation.cosines.rows / rotation.heads);
  assert(rotation.cosines.cols == (rotation.split_halves ? head_width / 2 : head_width));
  const size_t rows = rotation.cosines.rows / rotation.heads, count = x.cols / head_width;
  const IsaKernels& kernels = isa_kernels(execution.isa);
  const auto turn = rotation.split_halves ? kernels.rotate_halves : kernels.rotate_neighbours;
  for_each_row(execution.pool, x.rows, [&](size_t r) {
    for (size_t head = 0; head < count; ++head) {
      const size_t row = head % rotation.heads * rows + r;
      turn(rotation.cosines.row(row), rotation.sines.row(row), x.row(r) + head * head_width,
           head_width);
    }
  });
}

void softmax(MatrixView x, float temperature, const Execution& execution) {
  const IsaKernels& kernels = isa_kernels(execution.isa);
  for_each_row(execution.pool, x.rows, [&](size_t r) {
    const float sum = kernels.exp_row(x.row(r), x.cols, 1.0f / temperature);
    kernels.scale_row(x.row(r), sum > 0.0f ? 1.0f / sum : 0.0f, x.row(r), x.cols);
  });
}

}  // namespace vit
