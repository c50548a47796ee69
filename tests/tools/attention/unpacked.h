/// Reads packed_attention() as the explorer's script does, step by step from its description.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/explorer/packing.h"

namespace vit::test {

inline std::string inflated(const std::string& packed, size_t size) {
  std::string bytes(size, '\0');
  uLongf length = size;
  if (uncompress(reinterpret_cast<Bytef*>(bytes.data()), &length,
                 reinterpret_cast<const Bytef*>(packed.data()), packed.size()) != Z_OK ||
      length != size)
    throw std::runtime_error("is not a zlib stream of " + std::to_string(size) + " bytes");
  return bytes;
}

struct UnpackedAttention {
  std::vector<float> units;  ///< of every row
  Matrix weights;
};

inline UnpackedAttention unpacked(const std::string& packed, const interpret::AttentionMaps& maps) {
  constexpr size_t kClasses = 9;
  const size_t first = maps.layout.first_patch(), cols = maps.layout.grid.cols,
               patches = maps.layout.grid.count(), tokens = first + patches,
               rows = maps.weights.rows();
  const size_t head = 4 * kClasses + 2 * rows + 2 * rows * first;
  const std::string bytes = inflated(packed, head + rows * patches);
  const auto half = [&](size_t at) {
    std::uint16_t number = 0;
    std::memcpy(&number, &bytes[at], 2);
    return number;
  };
  std::array<size_t, kClasses> places{head};
  for (size_t i = 1; i < kClasses; ++i) {
    std::uint32_t count = 0;
    std::memcpy(&count, &bytes[4 * (i - 1)], 4);
    places[i] = places[i - 1] + count;
  }
  UnpackedAttention out{std::vector<float>(rows), Matrix(rows, tokens)};
  std::vector<std::vector<int>> steps(rows, std::vector<int>(patches));
  for (size_t r = 0; r < rows; ++r) {
    const float unit = std::bit_cast<float>(std::uint32_t{half(4 * kClasses + 2 * r)} << 16);
    out.units[r] = unit;
    for (size_t i = 0; i < first; ++i) {
      const float root = half(4 * kClasses + 2 * rows + 2 * (r * first + i)) / 40'000.0f;
      out.weights(r, i) = root * root;
    }
    std::vector<int> near(patches);
    if (r % tokens > first)
      for (const size_t other : {r - 1, r % tokens < first + cols ? r - 1 : r - cols}) {
        const double ratio =
            unit > 0.0f ? static_cast<double>(out.units[other]) / static_cast<double>(unit) : 0.0;
        const int factor = static_cast<int>(std::min(256.0 * std::sqrt(ratio) + 0.5, 65535.0));
        for (size_t j = 0; j < patches; ++j) near[j] += (factor * steps[other][j] + 128) / 256;
      }
    for (size_t j = 0; j < patches; ++j) {
      const auto before = [&](size_t distance) {
        return j < distance ? 0 : 2 * steps[r][j - distance] - near[j - distance];
      };
      const int more = before(1) + before(cols);
      const int guess = std::clamp((near[j] + ((85 * more) >> 8) + 1) >> 1, 0, 255);
      const char residual = bytes[places[std::bit_width(static_cast<unsigned>(guess))]++];
      steps[r][j] = static_cast<std::uint8_t>(guess + residual);
      const float root = static_cast<float>(steps[r][j]) / 70.0f;
      out.weights(r, first + j) = unit * root * root;
    }
  }
  return out;
}

}  // namespace vit::test
