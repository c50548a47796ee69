#include "patch/image/image_header.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "patch/image/byte_reader.h"
#include "vit/base/error.h"

namespace vit::patch {
namespace {

struct Signature {
  size_t at;
  std::string_view bytes;
  std::string_view name;
};

// What people take for one of our formats, most often because of the file's name.
constexpr std::array<Signature, 14> kForeign{{
    {0, "GIF8", "it is a GIF image"},
    {4, "ftypavif", "it is an AVIF image"},
    {4, "ftyphei", "it is a HEIC image"},
    {4, "ftypmif1", "it is a HEIF image"},
    {4, "ftyp", "it is a video"},
    {4, "jP  \r\n", "it is a JPEG 2000 image"},
    {4, "JXL ", "it is a JPEG XL image"},
    {0, "\xff\x0a", "it is a JPEG XL image"},
    {0, {"II+\0", 4}, "it is a BigTIFF image"},
    {0, {"MM\0+", 4}, "it is a BigTIFF image"},
    {0, "8BPS", "it is a Photoshop document"},
    {0, "%PDF", "it is a PDF document"},
    {0, "PK\x03\x04", "it is a zip archive"},
    {0, "\x1f\x8b", "it is a gzip archive"},
}};

bool is_text(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) {
    const int code = std::to_integer<int>(byte);
    return code >= 0x80 || std::isprint(code) || std::isspace(code);
  });
}

}  // namespace

std::string_view to_string(FileFormat format) {
  switch (format) {
    case FileFormat::kJpeg:
      return "JPEG";
    case FileFormat::kPng:
      return "PNG";
    case FileFormat::kWebp:
      return "WebP";
    case FileFormat::kBmp:
      return "BMP";
    case FileFormat::kTiff:
      return "TIFF";
    case FileFormat::kUnknown:
      break;
  }
  return "unknown";
}

std::string describe_unknown(std::span<const std::byte> bytes) {
  const ByteReader reader(bytes, ByteOrder::kBig);
  for (const Signature& signature : kForeign)
    if (reader.says(signature.at, signature.bytes)) return std::string(signature.name);
  const auto start = reader.part(0, 64);
  if (is_text(start)) return "it starts like text";
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "it starts with the bytes";
  for (const std::byte byte : start.first(std::min<size_t>(start.size(), 8))) {
    const auto code = std::to_integer<unsigned>(byte);
    text += {' ', kDigits[code / 16], kDigits[code % 16]};
  }
  return text;
}

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
  return FileFormat::kUnknown;
}

void check_format(std::span<const std::byte> bytes, std::string_view name) {
  if (format_of(bytes) == FileFormat::kUnknown)
    fail(name, ": not a JPEG, PNG, WebP, BMP or TIFF image: ", describe_unknown(bytes));
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
    case FileFormat::kUnknown:
      break;
  }
  return {};
}

}  // namespace vit::patch
