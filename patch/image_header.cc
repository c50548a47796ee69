#include "patch/image_header.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdlib>

#include "patch/byte_reader.h"

namespace vit::patch {
namespace {

struct Signature {
  size_t at;
  std::string_view bytes;
  std::string_view name;
};

// What people take for one of our formats, most often because of the file's name.
constexpr std::array<Signature, 12> kForeign{{
    {0, "GIF8", "it is a GIF image"},
    {4, "ftypavif", "it is an AVIF image"},
    {4, "ftyphei", "it is a HEIC image"},
    {4, "ftypmif1", "it is a HEIF image"},
    {4, "ftyp", "it is a video"},
    {4, "jP  \r\n", "it is a JPEG 2000 image"},
    {4, "JXL ", "it is a JPEG XL image"},
    {0, "\xff\x0a", "it is a JPEG XL image"},
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

size_t row_bytes(size_t width, size_t bits) {
  return (width * bits + 31) / 32 * 4;
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

ImageHeader read_bmp_header(std::span<const std::byte> bytes) {
  const ByteReader reader(bytes, ByteOrder::kLittle);
  ImageHeader header{.format = FileFormat::kBmp};
  const bool old = reader.u32(14) == 12;  // OS/2: 16-bit sizes
  header.width = old ? reader.u16(18) : reader.u32(18);
  // A negative height says that the rows go down.
  header.height =
      old ? reader.u16(20)
          : static_cast<size_t>(std::abs(std::int64_t{static_cast<std::int32_t>(reader.u32(22))}));
  const size_t bits = old ? reader.u16(24) : reader.u16(28);
  const std::uint32_t compression = old ? 0 : reader.u32(30);
  const bool plain = compression == 0 || compression == 3;
  const size_t needed = plain ? row_bytes(header.width, bits) * header.height : 1;
  header.complete = reader.has(reader.u32(10), needed);
  return header;
}

ImageHeader read_webp_header(std::span<const std::byte> bytes) {
  const ByteReader reader(bytes, ByteOrder::kLittle);
  ImageHeader header{.format = FileFormat::kWebp};
  header.complete = reader.has(8, reader.u32(4));
  constexpr size_t kFirstChunk = 12, kChunkHead = 8;
  const size_t body = kFirstChunk + kChunkHead;
  if (reader.says(kFirstChunk, "VP8X")) {
    header.width = (reader.u32(body + 4) & 0xffffff) + 1;
    header.height = (reader.u32(body + 6) >> 8) + 1;
    if (reader.u8(body) & 2) header.problem = "animated; save one of its frames as an image";
  } else if (reader.says(kFirstChunk, "VP8L")) {
    const std::uint32_t sizes = reader.u32(body + 1);
    header.width = (sizes & 0x3fff) + 1;
    header.height = (sizes >> 14 & 0x3fff) + 1;
  } else if (reader.says(kFirstChunk, "VP8 ")) {
    header.width = reader.u16(body + 6) & 0x3fff;
    header.height = reader.u16(body + 8) & 0x3fff;
  }
  for (size_t at = kFirstChunk; reader.has(at, kChunkHead);) {
    const size_t length = reader.u32(at + 4);
    if (reader.says(at, "EXIF"))
      header.orientation = exif_orientation(reader.part(at + kChunkHead, length));
    at += kChunkHead + length + length % 2;  // chunks start at even places
  }
  return header;
}

ImageHeader read_header(std::span<const std::byte> bytes) {
  const ByteReader reader(bytes, ByteOrder::kBig);
  if (reader.says(0, "\xff\xd8\xff")) return read_jpeg_header(bytes);
  if (reader.says(0, "\x89PNG\r\n\x1a\n")) return read_png_header(bytes);
  if (reader.says(0, "RIFF") && reader.says(8, "WEBP")) return read_webp_header(bytes);
  if (reader.says(0, std::string_view("II*\0", 4)) || reader.says(0, std::string_view("MM\0*", 4)))
    return read_tiff_header(bytes);
  // Two letters are little proof of a BMP: its second header must have a known length, too.
  const size_t second = ByteReader(bytes, ByteOrder::kLittle).u32(14);
  if (reader.says(0, "BM") &&
      (!reader.has(14, 4) || second == 12 || second == 64 || (second >= 16 && second <= 124)))
    return read_bmp_header(bytes);
  return {};
}

}  // namespace vit::patch
