/// The number formats of weight files, as floats. All conversions are exact where a float can be.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace vit::weights {

/// Files align nothing, so every load goes through memcpy (which compiles to one plain load).
template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// No denormal float is ever an operand, so the result does not depend on the processor's
/// flush-to-zero mode.
inline float float_of_f16(std::uint16_t half) {
  constexpr std::uint32_t kRebias = 112u << 23;  // exponent bias 15 to 127
  constexpr std::uint32_t kExponent = 0x7c00u << 13;
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t bits = (half & 0x7fffu) << 13;
  const std::uint32_t exponent = bits & kExponent;

  std::uint32_t magnitude = bits + kRebias;
  if (exponent == kExponent) magnitude += kRebias;  // infinity and NaN
  if (exponent == 0)  // zero and denormals: m · 2^-24 = (1 + m/1024) · 2^-14 - 2^-14
    magnitude = std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits + kRebias + (1u << 23)) -
                                             std::bit_cast<float>(kRebias + (1u << 23)));
  return std::bit_cast<float>(magnitude | sign);
}

inline float float_of_bf16(std::uint16_t half) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

/// To nearest even; what is too large becomes infinite.
inline std::uint16_t f16_of_float(float value) {
  constexpr std::uint32_t kRebias = 112u << 23;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u;  // NaN
  } else if (magnitude >= 0x47800000u) {
    half = 0x7c00u;  // 65536 and above
  } else if (magnitude < 0x38800000u) {
    // Below 2^-14, denormal: one unit is 2^-24, as in a float between 0.5 and 1.
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) -
           std::bit_cast<std::uint32_t>(0.5f);
  } else {
    half = (magnitude - kRebias + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  }
  return static_cast<std::uint16_t>(sign | half);
}

inline std::uint16_t bf16_of_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  const std::uint32_t rounded = nan ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1u);
  return static_cast<std::uint16_t>(rounded >> 16);
}

/// ggml's block formats: 32 numbers share one f16 scale.
inline constexpr std::size_t kBlockLength = 32;
inline constexpr std::size_t kQ8_0Bytes = 2 + 32;
inline constexpr std::size_t kQ4_0Bytes = 2 + 16;

inline float float_of_q8_0(const std::byte* blocks, std::size_t index) {
  const std::byte* block = blocks + index / kBlockLength * kQ8_0Bytes;
  const auto quant = load<std::int8_t>(block + 2 + index % kBlockLength);
  return float_of_f16(load<std::uint16_t>(block)) * static_cast<float>(quant);
}

/// The low nibbles of a block hold its first 16 numbers, the high nibbles the others.
inline float float_of_q4_0(const std::byte* blocks, std::size_t index) {
  const std::byte* block = blocks + index / kBlockLength * kQ4_0Bytes;
  const std::size_t within = index % kBlockLength;
  const auto pair = load<std::uint8_t>(block + 2 + within % 16);
  const int quant = within < 16 ? pair & 15 : pair >> 4;
  return float_of_f16(load<std::uint16_t>(block)) * static_cast<float>(quant - 8);
}

}  // namespace vit::weights
