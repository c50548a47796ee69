/// The bytes of an index file, little-endian. Internal to this module.
#pragma once

#include <zlib.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace vit::index {

static_assert(std::endian::native == std::endian::little, "index files are little-endian");

using Magic = std::array<char, 8>;
inline constexpr Magic kFileMagic{'V', 'I', 'T', 'I', 'N', 'D', 'E', 'X'};
inline constexpr Magic kBlockMagic{'V', 'I', 'T', 'B', 'L', 'O', 'C', 'K'};
inline constexpr std::uint32_t kVersion = 1;
/// Headers, descriptions, numbers and tables begin at multiples of it.
inline constexpr std::size_t kAlignment = 64;

struct FileHeader {
  Magic magic = kFileMagic;
  std::uint32_t version = kVersion;
  std::uint32_t type = 0;
  std::uint64_t width = 0;
  std::uint64_t description_bytes = 0;
  std::uint32_t description_sum = 0;
  std::array<std::uint32_t, 6> reserved{};
  std::uint32_t sum = 0;  ///< CRC-32 of the bytes before it
};
static_assert(sizeof(FileHeader) == kAlignment);

struct BlockHeader {
  Magic magic = kBlockMagic;
  std::uint64_t rows = 0;
  std::uint64_t first = 0;        ///< number of its first row
  std::uint64_t table_bytes = 0;  ///< entries, then the numbers of replaced rows
  std::uint64_t replaced = 0;
  std::uint32_t numbers_sum = 0;
  std::uint32_t table_sum = 0;
  std::array<std::uint32_t, 3> reserved{};
  std::uint32_t sum = 0;  ///< CRC-32 of the bytes before it
};
static_assert(sizeof(BlockHeader) == kAlignment);

/// The fixed part of an entry; path and note follow.
struct EntryHeader {
  std::uint32_t path_bytes = 0;
  std::uint32_t note_bytes = 0;
  std::uint64_t bytes = 0;
  std::int64_t time = 0;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t status = 0;
  std::uint32_t reserved = 0;
  std::array<std::byte, 32> content{};
};
static_assert(sizeof(EntryHeader) == 72 && std::is_trivially_copyable_v<EntryHeader>);

inline std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

inline std::uint32_t checksum(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

template <typename Header>
std::uint32_t header_sum(const Header& header) {
  return checksum(std::as_bytes(std::span(&header, 1)).first(sizeof header - sizeof header.sum));
}

}  // namespace vit::index
