#include "tools/output/unicode.h"

#include <array>

namespace vit::tools {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// The blocks that occur in labels and file names, from EastAsianWidth.txt (W and F).
constexpr std::array<Range, 8> kWide{{{0x1100, 0x115F},
                                      {0x2E80, 0xA4CF},
                                      {0xAC00, 0xD7A3},
                                      {0xF900, 0xFAFF},
                                      {0xFE30, 0xFE6F},
                                      {0xFF00, 0xFF60},
                                      {0x1F300, 0x1FAFF},
                                      {0x20000, 0x3FFFD}}};
constexpr std::array<Range, 5> kCombining{
    {{0x0300, 0x036F}, {0x1AB0, 0x1AFF}, {0x20D0, 0x20FF}, {0x200B, 0x200F}, {0xFE00, 0xFE0F}}};

template <size_t count>
bool within(char32_t point, const std::array<Range, count>& ranges) {
  for (const auto& range : ranges)
    if (point >= range.first && point <= range.last) return true;
  return false;
}

size_t width_of(char32_t point) {
  return within(point, kCombining) ? 0 : within(point, kWide) ? 2 : 1;
}

/// C0, DEL, C1, and marks that change the direction of text.
bool is_control(char32_t point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || (point >= 0x202A && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069);
}

std::string escaped(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    if (byte == '\n')
      text += "\\n";
    else if (byte == '\t')
      text += "\\t";
    else if (byte == '\r')
      text += "\\r";
    else
      text += {'\\', 'x', kDigits[value >> 4], kDigits[value & 15]};
  }
  return text;
}

}  // namespace

std::optional<char32_t> take_code_point(std::string_view& text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80   ? 1
                        : lead < 0xC2 ? 0
                        : lead < 0xE0 ? 2
                        : lead < 0xF0 ? 3
                        : lead < 0xF5 ? 4
                                      : 0;
  char32_t point = length == 1 ? lead : lead & (0x7F >> length);
  bool valid = length != 0 && length <= text.size();
  for (size_t i = 1; valid && i < length; ++i) {
    valid = (byte(i) & 0xC0) == 0x80;
    point = point << 6 | (byte(i) & 0x3F);
  }
  // Overlong forms, surrogates, beyond the last plane.
  constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  valid = valid && point >= kLeast[length] && !(point >= 0xD800 && point <= 0xDFFF) &&
          point <= 0x10FFFF;
  text.remove_prefix(valid ? length : 1);
  if (!valid) return std::nullopt;
  return point;
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::string_view before = text;
    const auto point = take_code_point(text);
    const auto bytes = before.substr(0, before.size() - text.size());
    result += point && !is_control(*point) ? std::string(bytes) : escaped(bytes);
  }
  return result;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) width += width_of(take_code_point(text).value_or(U'?'));
  return width;
}

std::string fit(std::string_view text, size_t width) {
  const size_t needed = display_width(text);
  if (needed <= width) return std::string(text) + std::string(width - needed, ' ');
  std::string result;
  size_t used = 0;
  while (true) {
    const std::string_view before = text;
    const size_t next = width_of(take_code_point(text).value_or(U'?'));
    if (used + next + 1 > width) break;
    used += next;
    result += before.substr(0, before.size() - text.size());
  }
  if (used == width) return result;
  return result + "…" + std::string(width - used - 1, ' ');
}

std::string padded(std::string_view text, size_t width) {
  const size_t own = display_width(text);
  return std::string(own < width ? width - own : 0, ' ').append(text);
}

}  // namespace vit::tools
