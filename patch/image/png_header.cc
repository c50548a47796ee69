#include <algorithm>
#include <array>
#include <cstdint>

#include "patch/image/byte_reader.h"
#include "patch/image/image_header.h"

namespace vit::patch {
namespace {

// CRC-32, eight bytes a step: table k advances a byte over k further ones.
constexpr size_t kSlices = 8;
using CrcTables = std::array<std::array<std::uint32_t, 256>, kSlices>;

constexpr CrcTables make_tables() {
  CrcTables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? 0xedb88320u ^ crc >> 1 : crc >> 1;
    tables[0][i] = crc;
  }
  for (size_t k = 1; k < kSlices; ++k)
    for (size_t i = 0; i < 256; ++i)
      tables[k][i] = tables[k - 1][i] >> 8 ^ tables[0][tables[k - 1][i] & 0xff];
  return tables;
}

constexpr CrcTables kTables = make_tables();

std::uint32_t crc32(std::span<const std::byte> bytes) {
  const auto value = [&bytes](size_t at) { return std::to_integer<std::uint32_t>(bytes[at]); };
  std::uint32_t crc = 0xffffffffu;
  size_t i = 0;
  for (; i + kSlices <= bytes.size(); i += kSlices) {
    std::uint32_t next = 0;
    for (size_t k = 0; k < kSlices; ++k) {
      const std::uint32_t mixed = k < 4 ? value(i + k) ^ (crc >> 8 * k & 0xff) : value(i + k);
      next ^= kTables[kSlices - 1 - k][mixed];
    }
    crc = next;
  }
  for (; i < bytes.size(); ++i) crc = kTables[0][(crc ^ value(i)) & 0xff] ^ crc >> 8;
  return ~crc;
}

constexpr size_t kSignature = 8;
constexpr size_t kAround = 12;  // length and type before a chunk's data, checksum after it

constexpr size_t kMostInflation = 1032;  // 258 bytes for two bits, deflate's limit

size_t bits_per_pixel(const ByteReader& reader) {
  const std::uint32_t bits = reader.u8(kSignature + 16), colour = reader.u8(kSignature + 17);
  const size_t channels = colour == 2 ? 3 : colour == 4 ? 2 : colour == 6 ? 4 : 1;
  return std::max<size_t>(1, bits * channels);
}

/// What the picture is made of. All else is remarks.
bool is_essential(const ByteReader& reader, size_t chunk) {
  for (const char* type : {"IHDR", "PLTE", "tRNS", "IDAT", "IEND"})
    if (reader.says(chunk + 4, type)) return true;
  return false;
}

bool is_intact(const ByteReader& reader, size_t chunk) {
  const size_t length = reader.u32(chunk);
  return crc32(reader.part(chunk + 4, length + 4)) == reader.u32(chunk + 8 + length);
}

std::string type_of(const ByteReader& reader, size_t chunk) {
  std::string type;
  for (size_t i = 4; i < 8; ++i) type += static_cast<char>(reader.u8(chunk + i));
  return type;
}

}  // namespace

ImageHeader read_png_header(std::span<const std::byte> bytes) {
  const ByteReader reader(bytes, ByteOrder::kBig);
  ImageHeader header{.format = FileFormat::kPng};
  if (reader.says(kSignature + 4, "IHDR")) {
    header.width = reader.u32(kSignature + 8);
    header.height = reader.u32(kSignature + 12);
  }
  size_t data = 0;
  for (size_t chunk = kSignature; reader.has(chunk, kAround);) {
    const size_t length = reader.u32(chunk);
    if (!reader.has(chunk, length + kAround)) break;
    if (reader.says(chunk + 4, "IDAT")) data += length;
    if (is_essential(reader, chunk) && !is_intact(reader, chunk)) {
      header.problem = "the checksum of its " + type_of(reader, chunk) + " chunk is wrong";
      break;
    }
    if (reader.says(chunk + 4, "eXIf")) {
      header.exif = reader.part(chunk + 8, length);
      header.orientation = exif_orientation(header.exif);
    }
    if (reader.says(chunk + 4, "IEND")) {
      header.complete = true;
      break;
    }
    chunk += length + kAround;
  }
  header.most_pixels = data * kMostInflation * 8 / bits_per_pixel(reader);
  return header;
}

std::vector<std::byte> essential_png(std::span<const std::byte> bytes) {
  const ByteReader reader(bytes, ByteOrder::kBig);
  const auto signature = reader.part(0, kSignature);
  std::vector<std::byte> kept(signature.begin(), signature.end());
  kept.reserve(bytes.size());
  for (size_t chunk = kSignature; reader.has(chunk, kAround);) {
    const size_t length = reader.u32(chunk) + kAround;
    const auto part = reader.part(chunk, length);
    if (is_essential(reader, chunk)) kept.insert(kept.end(), part.begin(), part.end());
    if (reader.says(chunk + 4, "IEND")) break;
    chunk += length;
  }
  return kept;
}

}  // namespace vit::patch
