/// Writes .tar files, block by block, also broken ones.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace vit::tools {

inline std::string octal(std::size_t number, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*zo", digits, number);
  return text;
}

/// A number of more than 8 GB, as GNU tar writes it: 12 bytes, the highest bit set.
inline std::string base_256(std::uint64_t number, unsigned char first = 0x80) {
  std::string text(12, first == 0x80 ? '\0' : static_cast<char>(first));
  text[0] = static_cast<char>(first);
  for (std::size_t i = 0; i < 8; ++i) text[11 - i] = static_cast<char>(number >> (8 * i));
  return text;
}

/// A header block of ustar whose field of the size is `size`.
inline std::string tar_header(const std::string& name, const std::string& size, char type,
                              const std::string& prefix) {
  std::string block(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) {
    block.replace(at, text.size(), text);
  };
  put(0, name.substr(0, 100));
  put(100, "0000644");
  put(124, size);
  put(136, octal(0, 11));
  put(148, "        ");
  put(156, std::string(1, type));
  put(257, std::string("ustar\00000", 8));
  put(345, prefix);
  std::size_t sum = 0;
  for (const unsigned char c : block) sum += c;
  put(148, octal(sum, 6) + std::string("\0 ", 2));
  return block;
}

inline std::string tar_header(const std::string& name, std::size_t size, char type = '0',
                              const std::string& prefix = "") {
  return tar_header(name, octal(size, 11), type, prefix);
}

inline std::string tar_member(const std::string& name, const std::string& content, char type = '0',
                              const std::string& prefix = "") {
  std::string member = tar_header(name, content.size(), type, prefix) + content;
  member.resize((member.size() + 511) / 512 * 512);
  return member;
}

/// A member that claims to be `size` bytes long. Near 2^64 the position after it would overflow.
inline std::string lying_member(const std::string& name, std::uint64_t size, char type = '0') {
  return tar_header(name, base_256(size), type, "");
}

/// A record of a pax header, with its length before it.
inline std::string pax_record(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  std::size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length) ++length;
  return std::to_string(length) + rest;
}

inline std::string tar_end() {
  return std::string(1024, '\0');
}

}  // namespace vit::tools
