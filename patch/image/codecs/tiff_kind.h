/// What a TIFF says about its pixels, and which kinds are read.
#pragma once

#include <tiffio.h>

#include <cstdint>
#include <string>

#include "patch/image/image.h"

namespace vit::patch {

struct TiffKind {
  std::uint32_t width = 0, height = 0;
  std::uint16_t compression = COMPRESSION_NONE;
  std::uint16_t photometric = PHOTOMETRIC_MINISWHITE;
  std::uint16_t bits = 1, samples = 1, planar = PLANARCONFIG_CONTIG;
  std::uint16_t format = SAMPLEFORMAT_UINT;
  bool tiled = false;
  std::uint32_t block_width = 0, block_height = 0;  ///< of a tile or strip

  bool grey() const {
    return photometric == PHOTOMETRIC_MINISWHITE || photometric == PHOTOMETRIC_MINISBLACK;
  }
  /// The largest number where the product would overflow.
  size_t tile_bytes() const {
    const size_t values = planar == PLANARCONFIG_SEPARATE ? 1 : samples;
    const size_t pixels = size_t{block_width} * block_height;
    constexpr size_t kLargest = ~size_t{0};
    return pixels > kLargest / 256 ? kLargest : (pixels * values * bits + 7) / 8;
  }
  /// Rows of grey or of a palette, several pixels to a byte or one.
  bool few_bits() const {
    const bool palette = photometric == PHOTOMETRIC_PALETTE && bits <= 8;
    return samples == 1 && !tiled && ((grey() && bits < 8) || palette);
  }
  /// Grey and RGB of whole bytes need no more than their samples put in place.
  bool simple() const {
    return (bits == 8 || bits == 16) &&
           (grey() || (photometric == PHOTOMETRIC_RGB && samples >= 3));
  }
};

TiffKind tiff_kind_of(TIFF* tiff);

/// Why pixels of this kind are not read, empty if they are. `image` has the size that the file's
/// header gave.
std::string check_tiff_kind(const TiffKind& kind, const Image& image);

}  // namespace vit::patch
