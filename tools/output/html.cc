#include "tools/output/html.h"

#include <array>
#include <cctype>
#include <cstdint>

namespace vit::tools {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<signed char, 256> digit_values() {
  std::array<signed char, 256> values{};
  values.fill(-1);
  for (size_t i = 0; i < kDigits.size(); ++i)
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<signed char>(i);
  return values;
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string url_escaped(std::string_view name) {
  constexpr std::string_view kHexDigits = "0123456789ABCDEF";
  std::string url;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.' || c == '~')
      url += c;
    else
      url += {'%', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
  }
  return url;
}

std::string base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  constexpr auto kValues = digit_values();
  if (text.size() % 4 == 0 && text.ends_with('=')) {
    text.remove_suffix(1);
    if (text.ends_with('=')) text.remove_suffix(1);
  }
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  size_t held = 0;
  for (const char c : text) {
    const signed char value = kValues[static_cast<unsigned char>(c)];
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes += static_cast<char>(bits >> held & 255u);
    }
  }
  return bytes;
}

}  // namespace vit::tools
