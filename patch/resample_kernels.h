/// The inner loops of decoding and resampling, compiled once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vit/kernels/cpu.h"

namespace vit::patch {

using std::size_t;

/// Rows that the horizontal pass filters side by side: each is a lane.
constexpr size_t kLaneRows = 16;
/// The vertical pass works on this many bytes at once; its rows are padded to a multiple.
constexpr size_t kColumnBlock = 64;
/// Fractional bits of a weight: 32 - 8 for the pixel - 2 for overshoot, as in Pillow.
constexpr int kWeightBits = 22;

struct ResampleKernels {
  /// columns[i][r] = rows[r][i] for i below `bytes`; both padded to multiples of 16 by the callee's
  /// writes, so `columns` holds round_up(bytes, 16) · 16.
  void (*turn_rows)(const std::uint8_t* const* rows, size_t bytes, std::uint8_t* columns);
  /// rows[r][i] = columns[i][r]; each row has room for round_up(bytes, 16).
  void (*turn_columns)(const std::uint8_t* columns, size_t bytes, std::uint8_t* const* rows);
  /// One output pixel of kLaneRows rows: `pixels` and `out` are [count][3][kLaneRows], [3][…].
  void (*filter_pixel)(const std::uint8_t* pixels, const std::int32_t* weights, size_t count,
                       std::uint8_t* out);
  /// One output row: `width` bytes, a multiple of kColumnBlock, from `count` rows.
  void (*filter_rows)(const std::uint8_t* rows, const std::int32_t* weights, size_t count,
                      size_t width, std::uint8_t* out);
};

/// Falls back to the best that was compiled.
const ResampleKernels& resample_kernels(Isa isa);

}  // namespace vit::patch
