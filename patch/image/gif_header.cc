#include <algorithm>
#include <cstdint>

#include "patch/image/byte_reader.h"
#include "patch/image/image_header.h"

namespace vit::patch {
namespace {

constexpr size_t kMostPixelsPerByte = 4096;  // LZW: a code of twelve bits, at the most

size_t colours_bytes(std::uint32_t flags) {
  return (flags & 0x80) != 0 ? size_t{6} << (flags & 7) : 0;
}

/// The place behind a row of blocks that ends with an empty one; beyond the file if none does.
size_t behind_blocks(const ByteReader& reader, size_t at) {
  while (reader.u8(at) != 0) at += 1 + reader.u8(at);
  return at + 1;
}

}  // namespace

ImageHeader read_gif_header(std::span<const std::byte> bytes) {
  const ByteReader reader(bytes, ByteOrder::kLittle);
  ImageHeader header{.format = FileFormat::kGif};
  header.width = reader.u16(6);
  header.height = reader.u16(8);
  header.most_pixels = reader.size() * kMostPixelsPerByte;
  constexpr std::uint32_t kExtension = 0x21, kImage = 0x2c;
  constexpr size_t kImageHead = 10;
  size_t at = 13 + colours_bytes(reader.u8(10));
  while (reader.u8(at) == kExtension) at = behind_blocks(reader, at + 2);
  if (reader.u8(at) != kImage) {
    if (reader.has(at, 1)) header.problem = "it has no image";
    return header;
  }
  // Some frames leave the screen that they should be on.
  header.width = std::max<size_t>(header.width, reader.u16(at + 1) + reader.u16(at + 5));
  header.height = std::max<size_t>(header.height, reader.u16(at + 3) + reader.u16(at + 7));
  at += kImageHead + colours_bytes(reader.u8(at + 9));
  header.complete = reader.has(0, behind_blocks(reader, at + 1));
  return header;
}

}  // namespace vit::patch
