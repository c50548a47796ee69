/// Images to test with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "patch/image/image.h"

namespace vit::patch::test {

inline Image noise(size_t width, size_t height, unsigned seed = 1) {
  Image image{width, height, std::vector<std::uint8_t>(width * height * 3)};
  std::mt19937 random(seed);
  for (std::uint8_t& value : image.pixels) value = static_cast<std::uint8_t>(random() >> 24);
  return image;
}

inline Image flat(size_t width, size_t height, std::uint8_t value) {
  return {width, height, std::vector<std::uint8_t>(width * height * 3, value)};
}

inline Image crop(const Image& image, size_t x, size_t y, size_t width, size_t height) {
  Image part{width, height, {}};
  for (size_t row = y; row < y + height; ++row)
    part.pixels.insert(part.pixels.end(), image.row(row) + x * 3, image.row(row) + (x + width) * 3);
  return part;
}

}  // namespace vit::patch::test
