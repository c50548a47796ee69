/// The wire format of protocol buffers: numbered fields, one after the other.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "vit/base/error.h"

namespace vit::text {

struct ProtocolField {
  std::uint64_t number = 0;
  std::uint64_t integer = 0;  ///< of varints and fixed-width fields
  std::string_view bytes{};   ///< of strings and messages

  float real() const {
    const auto bits = static_cast<std::uint32_t>(integer);
    float value = 0.0f;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
};

/// Reads the fields of one message. Throws an Error where it is cut short; `where` opens it.
class ProtocolReader {
 public:
  ProtocolReader(std::string_view bytes, std::string_view where) : rest_(bytes), where_(where) {}

  bool done() const { return rest_.empty(); }

  ProtocolField next() {
    const std::uint64_t key = varint();
    ProtocolField field{key >> 3};
    switch (key & 7) {
      case 0:
        field.integer = varint();
        break;
      case 1:
        field.integer = fixed(8);
        break;
      case 2:
        field.bytes = take(varint());
        break;
      case 5:
        field.integer = fixed(4);
        break;
      default:
        fail_at(where_, "is not a SentencePiece model: field of unknown kind ", key & 7);
    }
    return field;
  }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size())
      fail_at(where_, "cut short: a field of ", count, " bytes where ", rest_.size(), " are left");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::uint64_t fixed(size_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, take(bytes).data(), bytes);  // little-endian, as are the machines we run on
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    fail_at(where_, "is not a SentencePiece model: a number of more than 64 bits");
  }

  std::string_view rest_;
  std::string_view where_;
};

}  // namespace vit::text
