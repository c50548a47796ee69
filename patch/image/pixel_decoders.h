/// One decoder per format. None of them prints.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "patch/image/image.h"

namespace vit::patch {

/// Each decodes RGB into an image that has the size of its header and memory reserved, and notes
/// damage that it can live with. Returns what is wrong with the file, empty if nothing is.
std::string decode_jpeg(std::span<const std::byte> bytes, Image& image);
std::string decode_png(std::span<const std::byte> bytes, Image& image);
std::string decode_bmp(std::span<const std::byte> bytes, Image& image);

/// Makes the first `rows` rows exist. Memory is touched as the decoder gets to it: a header may
/// promise more than the file holds.
inline void grow_to(size_t rows, Image& image) {
  constexpr size_t kStep = size_t{1} << 20;
  const size_t needed = rows * image.width * 3, all = image.height * image.width * 3;
  if (needed > image.pixels.size())
    image.pixels.resize(std::min(all, std::max(needed, image.pixels.size() + kStep)));
}

/// Row y, which then exists.
inline std::uint8_t* grown_row(size_t y, Image& image) {
  grow_to(y + 1, image);
  return image.row(y);
}

}  // namespace vit::patch
