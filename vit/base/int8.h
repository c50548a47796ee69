/// How a row of weights becomes integers: the one rule for running in 8 bits and for saving so.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

namespace vit {

/// AVX2 multiplies weights with unsigned bytes and adds the products of four neighbours in 16 bits.
/// So that no sum overflows whatever the bytes are, a weight has seven bits, and of those four
/// weights neither the positive nor the negative ones add up to more than 128.
inline constexpr int kLargestInt8Weight = 63;
inline constexpr int kLargestInt8Sum = 128;
inline constexpr std::size_t kInt8Group = 8;  ///< weights: 0, 1, 4, 5 are summed, and 2, 3, 6, 7

/// The largest sum of four that are added in 16 bits, of those above zero or of those below it.
template <typename Number>
Number largest_int8_sum(std::span<const Number> row) {
  Number largest{};
  for (std::size_t group = 0; group < row.size(); group += kInt8Group) {
    std::array<Number, 4> sums{};  // of the first four above and below zero, of the others
    const std::size_t end = std::min(row.size(), group + kInt8Group);
    for (std::size_t k = group; k < end; ++k) {
      const std::size_t lane = (k - group) / 2 % 2 * 2;
      sums[row[k] < Number{} ? lane + 1 : lane] += row[k] < Number{} ? -row[k] : row[k];
    }
    largest = std::max(largest, *std::max_element(sums.begin(), sums.end()));
  }
  return largest;
}

/// weight = scale · integer, rounded to nearest. A row that holds an infinity or a NaN gets a scale
/// that is not finite, and zeros.
inline float quantize_weights(std::span<const float> row, std::int8_t* integers) {
  float largest = 0.0f;
  for (const float w : row) largest = std::isfinite(w) ? std::max(largest, std::abs(w)) : INFINITY;
  constexpr int kRounding = 2;  // half a step for each of four
  const float scale = std::max(
      largest / static_cast<float>(kLargestInt8Weight),
      std::isfinite(largest) ? largest_int8_sum(row) / (kLargestInt8Sum - kRounding) : largest);
  if (!(scale > 0.0f) || !std::isfinite(scale)) {
    std::fill_n(integers, row.size(), std::int8_t{0});
    return scale;
  }
  std::transform(row.begin(), row.end(), integers,
                 [&](float w) { return static_cast<std::int8_t>(std::lround(w / scale)); });
  return scale;
}

}  // namespace vit
