#include "patch/image/codecs/tiff_kind.h"

#include <algorithm>
#include <array>

namespace vit::patch {
namespace {

std::string compression_name(std::uint16_t compression) {
  if (const TIFFCodec* codec = TIFFFindCODEC(compression)) return codec->name;
  switch (compression) {
    case COMPRESSION_JP2000:
      return "JPEG 2000";
    case COMPRESSION_ZSTD:
      return "Zstd";
    case COMPRESSION_WEBP:
      return "WebP";
    case COMPRESSION_LZMA:
      return "LZMA";
    case COMPRESSION_LERC:
      return "LERC";
    case COMPRESSION_JXL:
      return "JPEG XL";
    default:
      return "number " + std::to_string(compression);
  }
}

}  // namespace

TiffKind tiff_kind_of(TIFF* tiff) {
  TiffKind kind;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &kind.width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &kind.height);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &kind.compression);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &kind.bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &kind.samples);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &kind.planar);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &kind.format);
  if (TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &kind.photometric) == 0)
    kind.photometric = kind.samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
  kind.tiled = TIFFIsTiled(tiff) != 0;
  if (kind.tiled) {
    TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &kind.block_width);
    TIFFGetField(tiff, TIFFTAG_TILELENGTH, &kind.block_height);
  } else {
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &kind.block_height);
    kind.block_width = kind.width;
    kind.block_height = std::min(kind.block_height, kind.height);
  }
  return kind;
}

std::string check_tiff_kind(const TiffKind& kind, const Image& image) {
  constexpr size_t kMaxTile = size_t{1} << 26;  // bytes: 4,096 x 4,096 of four samples
  constexpr size_t kMaxSamples = 16;
  if (kind.width != image.width || kind.height != image.height)
    return "it has headers of two sizes";
  if (TIFFIsCODECConfigured(kind.compression) == 0)
    return "its compression (" + compression_name(kind.compression) + ") is not read";
  if (kind.format != SAMPLEFORMAT_UINT && kind.format != SAMPLEFORMAT_VOID)
    return "its samples are not whole numbers without a sign";
  constexpr std::array<std::uint16_t, 5> kBits{1, 2, 4, 8, 16};
  if (std::find(kBits.begin(), kBits.end(), kind.bits) == kBits.end())
    return "it has " + std::to_string(kind.bits) + " bits per sample; 1, 2, 4, 8 and 16 are read";
  if (kind.block_width == 0 || kind.block_height == 0) return "its tiles or strips have no size";
  if (kind.samples > kMaxSamples)
    return "it has " + std::to_string(kind.samples) + " samples per pixel; at most " +
           std::to_string(kMaxSamples) + " are read";
  if (kind.tiled && kind.tile_bytes() > kMaxTile)
    return "its tiles of " + std::to_string(kind.block_width) + "x" +
           std::to_string(kind.block_height) + " pixels are too large";
  return {};
}

}  // namespace vit::patch
