/// Linear layers in 8 bits: weights quantized once per output, activations once per token as they
/// come.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "vit/base/matrix.h"
#include "vit/kernels/linear.h"

namespace vit {

/// weight[o][k] = scales[o] · an integer, by the rule of vit/base/int8.h. Panels of 16 outputs,
/// eight k at a time: four of each output, then the next four.
struct Int8Linear {
  size_t in = 0;
  size_t out = 0;
  size_t padded_in = 0;             ///< a multiple of 8; the rest is zero
  std::vector<std::int8_t> panels;  ///< [panel][padded_in / 8][2][16][4]
  std::vector<float> scales;        ///< per output, zeros up to whole panels
  std::vector<std::int32_t> sums;   ///< of each output's integers, zeros up to whole panels

  bool empty() const { return out == 0; }
  size_t bytes() const {
    return panels.size() + sizeof(float) * scales.size() + sizeof(std::int32_t) * sums.size();
  }
};

/// Hands over one row of W as `in` integers by the rule of vit/base/int8.h and returns its scale.
using ReadInt8Row = std::function<float(size_t row, std::int8_t* integers)>;

/// Rows of floats, quantized as they are read.
ReadInt8Row quantizing(size_t in, ReadRows read_rows);

/// Reads every row of W once.
Int8Linear pack_int8(size_t out, size_t in, const ReadInt8Row& read_row);

/// A linear layer that apply() of linear.h runs in 8 bits.
Linear pack_int8_linear(size_t out, size_t in, const ReadInt8Row& read_row,
                        std::span<const float> bias, Isa isa);

/// The integers of one output, for tests and for saving.
std::vector<std::int8_t> quantized_row(const Int8Linear& linear, size_t output);

}  // namespace vit
