#include <cstdint>

#include "patch/image/byte_reader.h"
#include "patch/image/image_header.h"

namespace vit::patch {
namespace {

constexpr size_t kMostPixelsPerByte = 65536;

}  // namespace

ImageHeader read_webp_header(std::span<const std::byte> bytes) {
  const ByteReader reader(bytes, ByteOrder::kLittle);
  ImageHeader header{.format = FileFormat::kWebp};
  header.complete = reader.has(8, reader.u32(4));
  // Lossless files hold flat images in no bits at all, lossy ones in a few per 16 x 16 pixels. What
  // is refused by this is large and empty.
  header.most_pixels = reader.size() * kMostPixelsPerByte;
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
    if (reader.says(at, "EXIF")) {
      header.exif = reader.part(at + kChunkHead, length);
      header.orientation = exif_orientation(header.exif);
    }
    at += kChunkHead + length + length % 2;  // chunks start at even places
  }
  return header;
}

}  // namespace vit::patch
