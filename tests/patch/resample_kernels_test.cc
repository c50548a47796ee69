#include "patch/resample_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace vit::patch {
namespace {

std::vector<std::uint8_t> random_bytes(size_t count) {
  std::vector<std::uint8_t> bytes(count);
  std::mt19937 random(3);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() >> 24);
  return bytes;
}

/// Weights of a strong overshoot, so that results leave 0..255 on both sides; they sum to one.
std::vector<std::int32_t> overshooting_weights(size_t count) {
  constexpr std::int32_t kOne = 1 << kWeightBits;
  std::vector<std::int32_t> weights(count, count > 1 ? -kOne / static_cast<int>(4 * count) : kOne);
  if (count > 1) {
    std::int32_t rest = kOne;
    for (size_t i = 1; i < count; ++i) rest -= weights[i];
    weights[0] = rest;
  }
  return weights;
}

std::uint8_t naive_sum(const std::uint8_t* from, size_t step,
                       const std::vector<std::int32_t>& weights) {
  std::int64_t sum = 1 << (kWeightBits - 1);
  for (size_t t = 0; t < weights.size(); ++t) sum += std::int64_t{weights[t]} * from[t * step];
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> kWeightBits, 0, 255));
}

TEST(ResampleKernels, FilterPixelsLikeTheNaiveSum) {
  for (const Isa isa : available_isas())
    for (size_t count = 1; count < 40; ++count) {
      const auto pixels = random_bytes(count * 3 * kLaneRows);
      const auto weights = overshooting_weights(count);
      std::array<std::uint8_t, 3 * kLaneRows> out;
      resample_kernels(isa).filter_pixel(pixels.data(), weights.data(), count, out.data());
      for (size_t lane = 0; lane < out.size(); ++lane)
        ASSERT_EQ(out[lane], naive_sum(&pixels[lane], out.size(), weights))
            << to_string(isa) << " taps " << count << " lane " << lane;
    }
}

TEST(ResampleKernels, FilterRowsLikeTheNaiveSum) {
  for (const Isa isa : available_isas())
    for (const size_t width : {kColumnBlock, 3 * kColumnBlock})
      for (size_t count = 1; count < 20; ++count) {
        const auto rows = random_bytes(count * width);
        const auto weights = overshooting_weights(count);
        std::vector<std::uint8_t> out(width);
        resample_kernels(isa).filter_rows(rows.data(), weights.data(), count, width, out.data());
        for (size_t x = 0; x < width; ++x)
          ASSERT_EQ(out[x], naive_sum(&rows[x], width, weights))
              << to_string(isa) << " taps " << count << " column " << x;
      }
}

TEST(ResampleKernels, TurnRowsToColumnsAndBack) {
  for (const Isa isa : available_isas())
    for (size_t bytes = 1; bytes <= 67; ++bytes) {
      const size_t padded = (bytes + 15) / 16 * 16;
      const auto image = random_bytes(bytes * kLaneRows);  // no slack: reading past it is caught
      std::vector<std::uint8_t> columns(padded * kLaneRows), back(padded * kLaneRows);
      std::array<const std::uint8_t*, kLaneRows> from;
      std::array<std::uint8_t*, kLaneRows> to;
      for (size_t r = 0; r < kLaneRows; ++r) {
        from[r] = &image[r * bytes];
        to[r] = &back[r * padded];
      }
      resample_kernels(isa).turn_rows(from.data(), bytes, columns.data());
      resample_kernels(isa).turn_columns(columns.data(), bytes, to.data());
      for (size_t r = 0; r < kLaneRows; ++r)
        for (size_t i = 0; i < bytes; ++i) {
          ASSERT_EQ(columns[i * kLaneRows + r], from[r][i]) << to_string(isa) << ' ' << bytes;
          ASSERT_EQ(to[r][i], from[r][i]) << to_string(isa) << ' ' << bytes;
        }
    }
}

}  // namespace
}  // namespace vit::patch
