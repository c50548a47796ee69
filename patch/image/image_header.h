/// What an image file says about itself, found out before any decoder sees it: decoders print to
/// the terminal about broken files, or fill what is missing with grey.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vit/base/enum_names.h"

namespace vit::patch {

using std::size_t;

enum class FileFormat { kUnknown, kJpeg, kPng, kWebp, kBmp, kTiff, kGif, kHeic, kAvif };
constexpr auto enum_names(FileFormat) {
  using enum FileFormat;
  return std::to_array<EnumName<FileFormat>>({{kUnknown, "unknown"},
                                              {kJpeg, "JPEG"},
                                              {kPng, "PNG"},
                                              {kWebp, "WebP"},
                                              {kBmp, "BMP"},
                                              {kTiff, "TIFF"},
                                              {kGif, "GIF"},
                                              {kHeic, "HEIC"},
                                              {kAvif, "AVIF"}});
}

struct ImageHeader {
  FileFormat format = FileFormat::kUnknown;
  size_t width = 0;       ///< as stored, before the orientation is applied
  size_t height = 0;      ///< 0: the header is broken
  int orientation = 1;    ///< EXIF's, 1 to 8
  bool complete = false;  ///< the file reaches the end of the image
  /// What the file's compressed data can hold at the best ratio of its format.
  size_t most_pixels = std::numeric_limits<size_t>::max();
  std::string problem = {};              ///< what makes it undecodable, if anything does
  std::span<const std::byte> exif = {};  ///< the EXIF block in the file's bytes
};

/// By the first bytes.
FileFormat format_of(std::span<const std::byte> bytes);
/// Throws an Error if they are of no known format; 64 bytes are enough.
void check_format(std::span<const std::byte> bytes, std::string_view name);

ImageHeader read_header(std::span<const std::byte> bytes);

ImageHeader read_jpeg_header(std::span<const std::byte> bytes);
ImageHeader read_png_header(std::span<const std::byte> bytes);
ImageHeader read_webp_header(std::span<const std::byte> bytes);
ImageHeader read_bmp_header(std::span<const std::byte> bytes);
ImageHeader read_tiff_header(std::span<const std::byte> bytes);
ImageHeader read_gif_header(std::span<const std::byte> bytes);
/// HEIC and AVIF; the size is that before the image is turned and cut.
ImageHeader read_heif_header(std::span<const std::byte> bytes);
/// HEIC, AVIF or unknown; 64 bytes are enough.
FileFormat heif_format_of(std::span<const std::byte> bytes);

/// The orientation in an EXIF block, which is a small TIFF file; 1 if it has none that makes sense.
int exif_orientation(std::span<const std::byte> exif);

/// The PNG without its remarks (colour profiles, times, texts), about which libpng prints warnings.
std::vector<std::byte> essential_png(std::span<const std::byte> bytes);

/// What a file of no known format looks like, and how to convert it: "it starts like text", "it is
/// a PDF document; convert …".
std::string describe_unknown(std::span<const std::byte> bytes);

}  // namespace vit::patch
