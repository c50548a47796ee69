/// Numbers out of a file that may lie about its size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace vit::patch {

using std::size_t;

enum class ByteOrder { kLittle, kBig };

/// Reads anywhere; what lies past the end reads as zero, so that a header needs no check per field.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, ByteOrder order) : bytes_(bytes), order_(order) {}

  size_t size() const { return bytes_.size(); }
  bool has(size_t at, size_t count) const { return at <= size() && count <= size() - at; }

  std::uint32_t u8(size_t at) const {
    return at < size() ? std::to_integer<std::uint32_t>(bytes_[at]) : 0;
  }
  std::uint32_t u16(size_t at) const {
    return order_ == ByteOrder::kBig ? u8(at) << 8 | u8(at + 1) : u8(at + 1) << 8 | u8(at);
  }
  std::uint32_t u32(size_t at) const {
    return order_ == ByteOrder::kBig ? u16(at) << 16 | u16(at + 2) : u16(at + 2) << 16 | u16(at);
  }

  bool says(size_t at, std::string_view text) const {
    return has(at, text.size()) && std::memcmp(&bytes_[at], text.data(), text.size()) == 0;
  }
  /// At most `count` bytes from `at` on.
  std::span<const std::byte> part(size_t at, size_t count) const {
    return at < size() ? bytes_.subspan(at, std::min(count, size() - at))
                       : std::span<const std::byte>();
  }

 private:
  std::span<const std::byte> bytes_;
  ByteOrder order_;
};

}  // namespace vit::patch
