#include "patch/image/image_header.h"

#include "patch/image/byte_reader.h"
#include "vit/base/error.h"

namespace vit::patch {
FileFormat format_of(std::span<const std::byte> bytes) {
  const ByteReader reader(bytes, ByteOrder::kBig);
  if (reader.says(0, "\xff\xd8\xff")) return FileFormat::kJpeg;
  if (reader.says(0, "\x89PNG\r\n\x1a\n")) return FileFormat::kPng;
  if (reader.says(0, "RIFF") && reader.says(8, "WEBP")) return FileFormat::kWebp;
  if (reader.says(0, std::string_view("II*\0", 4)) || reader.says(0, std::string_view("MM\0*", 4)))
    return FileFormat::kTiff;
  // Two letters are little proof of a BMP: its second header must have a known length, too.
  const size_t second = ByteReader(bytes, ByteOrder::kLittle).u32(14);
  if (reader.says(0, "BM") &&
      (!reader.has(14, 4) || second == 12 || second == 64 || (second >= 16 && second <= 124)))
    return FileFormat::kBmp;
  if (reader.says(0, "GIF87a") || reader.says(0, "GIF89a")) return FileFormat::kGif;
  return heif_format_of(bytes);
}

void check_format(std::span<const std::byte> bytes, std::string_view name) {
  if (format_of(bytes) == FileFormat::kUnknown)
    fail_at(name,
            "not a JPEG, PNG, WebP, BMP, TIFF, GIF, HEIC or AVIF image: ", describe_unknown(bytes));
}

ImageHeader read_header(std::span<const std::byte> bytes) {
  switch (format_of(bytes)) {
    case FileFormat::kJpeg:
      return read_jpeg_header(bytes);
    case FileFormat::kPng:
      return read_png_header(bytes);
    case FileFormat::kWebp:
      return read_webp_header(bytes);
    case FileFormat::kBmp:
      return read_bmp_header(bytes);
    case FileFormat::kTiff:
      return read_tiff_header(bytes);
    case FileFormat::kGif:
      return read_gif_header(bytes);
    case FileFormat::kHeic:
    case FileFormat::kAvif:
      return read_heif_header(bytes);
    case FileFormat::kUnknown:
      break;
  }
  return {};
}

}  // namespace vit::patch
