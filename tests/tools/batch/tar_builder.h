/// Writes .tar files, block by block, also broken ones.
#pragma once

#include <cstdio>
#include <string>

namespace vit::tools {

inline std::string octal(std::size_t number, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*zo", digits, number);
  return text;
}

/// A header block of ustar.
inline std::string tar_header(const std::string& name, std::size_t size, char type = '0',
                              const std::string& prefix = "") {
  std::string block(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) {
    block.replace(at, text.size(), text);
  };
  put(0, name.substr(0, 100));
  put(100, "0000644");
  put(124, octal(size, 11));
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

inline std::string tar_member(const std::string& name, const std::string& content, char type = '0',
                              const std::string& prefix = "") {
  std::string member = tar_header(name, content.size(), type, prefix) + content;
  member.resize((member.size() + 511) / 512 * 512);
  return member;
}

inline std::string tar_end() {
  return std::string(1024, '\0');
}

}  // namespace vit::tools
