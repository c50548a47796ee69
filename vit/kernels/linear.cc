#include "vit/kernels/linear.h"

#include <algorithm>
#include <cassert>

#include "vit/base/round.h"
#include "vit/kernels/linear_internal.h"

namespace vit {
namespace {

/// rows: [count][in] of W, which become columns of the panel [in][width].
void fill_panel(const float* rows, size_t count, size_t in, size_t width, float* panel) {
  for (size_t k = 0; k < in; ++k)
    for (size_t c = 0; c < count; ++c) panel[k * width + c] = rows[c * in + k];
}

/// What of x may stay in the second-level cache: some of that is for the panels that pass by.
size_t cached_numbers() {
  static const size_t numbers = second_level_cache() / sizeof(float) * 5 / 8;
  return numbers;
}

void apply_packed(const Linear& linear, const LinearCall& call, const OutputRange& range) {
  isa_kernels(linear.isa)
      .linear({.out = make_tile_output(call, linear.bias, range),
               .x = call.x.row(range.first_row),
               .x_stride = call.x.stride,
               .panels = linear.weights.data() + range.first_column * linear.in,
               .in = linear.in,
               .cached = cached_numbers()});
}

void apply(const Linear& linear, const LinearCall& call) {
  [[maybe_unused]] const auto& [x, y, columns, epilogue, pool] = call;
  assert(x.cols == linear.in && y.cols == linear.out && x.rows == y.rows);
  assert(epilogue.layer_scale.empty() || epilogue.layer_scale.size() >= linear.out);
  assert(epilogue.residual.empty() || epilogue.residual.cols == linear.out);
  if (linear.int8 != nullptr) return apply(*linear.int8, linear.bias, call, linear.isa);
  share_output(call, isa_kernels(linear.isa).panel_width,
               [&](const OutputRange& range) { apply_packed(linear, call, range); });
}

}  // namespace

TileOutput make_tile_output(const LinearCall& call, std::span<const float> bias,
                            const OutputRange& range) {
  const auto from_first = [&](std::span<const float> numbers) {
    return numbers.empty() ? nullptr : numbers.data() + range.first_column;
  };
  const Epilogue& epilogue = call.epilogue;
  const ConstMatrixView& residual = epilogue.residual;
  return {
      .rows = range.rows,
      .columns = range.columns,
      .bias = from_first(bias),
      .activation = epilogue.activation,
      .layer_scale = from_first(epilogue.layer_scale),
      .residual = residual.empty() ? nullptr : residual.row(range.first_row) + range.first_column,
      .residual_stride = residual.stride,
      .y = call.y.row(range.first_row) + range.first_column,
      .y_stride = call.y.stride};
}

size_t Linear::bytes() const {
  return (weights.size() + bias.size()) * sizeof(float) + (int8 != nullptr ? int8->bytes() : 0);
}

Linear pack_linear(size_t out, size_t in, const ReadRows& read_rows, std::span<const float> bias,
                   Isa isa) {
  assert(bias.empty() || bias.size() == out);
  Linear linear{
      .in = in, .out = out, .isa = isa, .weights = {}, .bias = {bias.begin(), bias.end()}};
  const size_t width = isa_kernels(isa).panel_width;
  linear.weights = Matrix(round_up(out, width), in);
  std::vector<float> rows(width * in);
  for (size_t first = 0; first < out; first += width) {
    const size_t count = std::min(width, out - first);
    read_rows(first, count, rows.data());
    fill_panel(rows.data(), count, in, width, linear.weights.data() + first * in);
  }
  return linear;
}

void apply(const Linear& linear, ConstMatrixView x, MatrixView y, const Execution& execution,
           const Epilogue& epilogue) {
  assert(linear.isa == execution.isa);
  apply(linear, {x, y, {0, linear.out}, epilogue, execution.pool});
}

void apply_from(const Linear& linear, size_t first, ConstMatrixView x, MatrixView y,
                const Execution& execution) {
  assert(linear.isa == execution.isa);
  apply(linear, {x, y, {first, linear.out}, {}, execution.pool});
}

}  // namespace vit
