/// How a row of weights becomes integers: the one rule for running in 8 bits and for saving so.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace vit {

/// Seven bits, so that two products with unsigned bytes fit 16 bits (vit/kernels/int8_avx2.inl).
inline constexpr int kLargestInt8Weight = 63;

/// weight = scale · integer, rounded to nearest. A row that holds an infinity or a NaN gets a scale
/// that is not finite, and zeros.
inline float quantize_weights(std::span<const float> row, std::int8_t* integers) {
  float largest = 0.0f;
  for (const float w : row) largest = std::isfinite(w) ? std::max(largest, std::abs(w)) : INFINITY;
  const float scale = largest / static_cast<float>(kLargestInt8Weight);
  if (!(scale > 0.0f) || !std::isfinite(scale)) {
    std::fill_n(integers, row.size(), std::int8_t{0});
    return scale;
  }
  std::transform(row.begin(), row.end(), integers,
                 [&](float w) { return static_cast<std::int8_t>(std::lround(w / scale)); });
  return scale;
}

}  // namespace vit
