/// Non-cryptographic hash for recognising data; it does not withstand forgery.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace vit {

/// Eight bytes at a time; any change of a byte or its place gives another number.
class Hash {
 public:
  void add(std::string_view bytes) {
    const char* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= sizeof(std::uint64_t);
         left -= sizeof(std::uint64_t), at += sizeof(std::uint64_t)) {
      std::uint64_t word;
      std::memcpy(&word, at, sizeof word);
      add(word);
    }
    std::uint64_t rest = left;
    for (; left > 0; --left, ++at) rest = rest << 8 | static_cast<unsigned char>(*at);
    add(rest);
  }
  /// The bytes of a row of plain values.
  template <typename T>
  void add_row(const T* values, std::size_t count) {
    add({reinterpret_cast<const char*>(values), count * sizeof(T)});
  }
  void add(std::uint64_t word) {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15;
    state_ ^= state_ >> 32;
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

}  // namespace vit
