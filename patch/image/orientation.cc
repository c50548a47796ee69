#include "patch/image/orientation.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

namespace vit::patch {
namespace {

/// Where the output's first pixel is in the input, and how far its neighbours are, in bytes.
struct Walk {
  std::ptrdiff_t start;
  std::ptrdiff_t right;
  std::ptrdiff_t down;
};

// The odd ones out of EXIF's numbering: 5 mirrors along the main diagonal, 6 turns clockwise, 7
// mirrors along the other diagonal, 8 turns counterclockwise.
Walk walk_of(const Image& image, int orientation) {
  const std::ptrdiff_t pixel = 3, row = static_cast<std::ptrdiff_t>(image.width) * pixel;
  const std::ptrdiff_t last_pixel = row - pixel;
  const std::ptrdiff_t last_row = static_cast<std::ptrdiff_t>(image.height - 1) * row;
  switch (orientation) {
    case 2:
      return {last_pixel, -pixel, row};
    case 3:
      return {last_row + last_pixel, -pixel, -row};
    case 4:
      return {last_row, pixel, -row};
    case 5:
      return {0, row, pixel};
    case 6:
      return {last_row, -row, pixel};
    case 7:
      return {last_row + last_pixel, -row, -pixel};
    case 8:
      return {last_pixel, row, -pixel};
    default:
      return {0, pixel, row};
  }
}

}  // namespace

Image oriented(const Image& image, int orientation) {
  assert(orientation >= 1 && orientation <= 8);
  const bool turned = orientation >= 5;
  Image result{turned ? image.height : image.width, turned ? image.width : image.height, {}};
  result.pixels.resize(image.pixels.size());
  result.damage = image.damage;
  result.lease = image.lease;
  const Walk walk = walk_of(image, orientation);
  constexpr size_t kTile = 32;  // a turned row touches a cache line per pixel: use them again soon
  for (size_t top = 0; top < result.height; top += kTile)
    for (size_t left = 0; left < result.width; left += kTile) {
      const size_t bottom = std::min(top + kTile, result.height);
      const size_t right = std::min(left + kTile, result.width);
      for (size_t y = top; y < bottom; ++y) {
        const std::uint8_t* from = image.pixels.data() + walk.start +
                                   static_cast<std::ptrdiff_t>(y) * walk.down +
                                   static_cast<std::ptrdiff_t>(left) * walk.right;
        std::uint8_t* to = result.row(y) + left * 3;
        for (size_t x = left; x < right; ++x, from += walk.right, to += 3) {
          to[0] = from[0];
          to[1] = from[1];
          to[2] = from[2];
        }
      }
    }
  return result;
}

}  // namespace vit::patch
