#include "vit/kernels/int8_linear.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "vit/base/int8.h"
#include "vit/base/round.h"
#include "vit/kernels/linear_internal.h"

namespace vit {
namespace {

/// Where the integer of (output, k) stands.
size_t position(const Int8Linear& linear, size_t output, size_t k) {
  const size_t panel = output / kInt8Panel, column = output % kInt8Panel;
  const size_t group = k / kInt8Group, half = k % kInt8Group / 4;
  return panel * linear.padded_in * kInt8Panel + group * kInt8Group * kInt8Panel +
         half * 4 * kInt8Panel + column * 4 + k % 4;
}

/// Activations of the call under way, one buffer per calling thread.
struct QuantizedRows {
  std::vector<std::uint8_t> bytes;
  std::vector<float> scales;
  std::vector<std::int32_t> zeros;

  void resize(size_t rows, size_t stride) {
    bytes.resize(std::max(bytes.size(), rows * stride));
    scales.resize(std::max(scales.size(), rows));
    zeros.resize(std::max(zeros.size(), rows));
  }
};

void quantize_rows(const IsaKernels& kernels, ConstMatrixView x, size_t stride, QuantizedRows& rows,
                   ThreadPool* pool) {
  rows.resize(x.rows, stride);
  for_each_row(pool, x.rows, [&](size_t r) {
    std::uint8_t* q = rows.bytes.data() + r * stride;
    const QuantizedRow row = kernels.quantize_row(x.row(r), q, x.cols);
    std::fill(q + x.cols, q + stride, std::uint8_t{0});
    rows.scales[r] = row.scale;
    rows.zeros[r] = row.zero;
  });
}

}  // namespace

ReadInt8Row quantizing(size_t in, ReadRows read_rows) {
  return [read = std::move(read_rows), row = std::vector<float>(in)](
             size_t index, std::int8_t* integers) mutable {
    read(index, 1, row.data());
    return quantize_weights(row, integers);
  };
}

Linear pack_int8_linear(size_t out, size_t in, const ReadInt8Row& read_row,
                        std::span<const float> bias, Isa isa) {
  Linear linear;
  linear.in = in;
  linear.out = out;
  linear.isa = isa;
  linear.bias.assign(bias.begin(), bias.end());
  linear.int8 = std::make_shared<const Int8Linear>(pack_int8(out, in, read_row));
  return linear;
}

Int8Linear pack_int8(size_t out, size_t in, const ReadInt8Row& read_row) {
  Int8Linear linear;
  linear.in = in;
  linear.out = out;
  linear.padded_in = round_up(in, kInt8Group);
  const size_t padded_out = round_up(out, kInt8Panel);
  linear.panels.assign(padded_out * linear.padded_in, 0);
  linear.scales.assign(padded_out, 0.0f);
  linear.sums.assign(padded_out, 0);
  std::vector<std::int8_t> integers(linear.padded_in, 0);
  for (size_t o = 0; o < out; ++o) {
    linear.scales[o] = read_row(o, integers.data());
    std::int8_t* column = linear.panels.data() + position(linear, o, 0);
    for (size_t k = 0; k < linear.padded_in; k += 4, column += 4 * kInt8Panel)
      std::copy_n(integers.data() + k, 4, column);
    linear.sums[o] = std::accumulate(integers.begin(), integers.end(), 0);
  }
  return linear;
}

std::vector<std::int8_t> quantized_row(const Int8Linear& linear, size_t output) {
  std::vector<std::int8_t> row(linear.in);
  for (size_t k = 0; k < linear.in; ++k) row[k] = linear.panels[position(linear, output, k)];
  return row;
}

void apply(const Int8Linear& linear, std::span<const float> bias, const LinearCall& call, Isa isa) {
  const ConstMatrixView x = call.x;
  assert(x.cols == linear.in && call.y.cols == linear.out && x.rows == call.y.rows);
  const IsaKernels& kernels = isa_kernels(isa);
  thread_local QuantizedRows rows;
  const size_t stride = row_stride(linear.padded_in, 1);
  quantize_rows(kernels, x, stride, rows, call.pool);
  const QuantizedRows& quantized = rows;  // the name `rows` means another buffer on another thread

  share_output(call, 2 * kInt8Panel, [&](const OutputRange& range) {
    kernels.int8_linear({.out = make_tile_output(call, bias, range),
                         .x = quantized.bytes.data() + range.first_row * stride,
                         .x_stride = stride,
                         .row_scales = quantized.scales.data() + range.first_row,
                         .row_zeros = quantized.zeros.data() + range.first_row,
                         .panels = linear.panels.data() + range.first_column * linear.padded_in,
                         .inner = linear.padded_in,
                         .column_scales = linear.scales.data() + range.first_column,
                         .column_sums = linear.sums.data() + range.first_column});
  });
}

}  // namespace vit
