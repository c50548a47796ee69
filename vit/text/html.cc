#include "vit/text/html.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "vit/text/resources.h"
#include "vit/text/unicode.h"
#include "vit/text/windows_1252.h"

namespace vit::text {
namespace {

constexpr char32_t kReplacement = 0xFFFD;
constexpr std::uint32_t kLastCodePoint = 0x10FFFF;
constexpr size_t kLongestName = 32;

using Entities = std::unordered_map<std::u32string, std::u32string>;

/// Lines "eacute;<TAB>E9", or several code points in hexadecimal with spaces between them.
Entities read_entities() {
  Entities entities;
  std::string_view rest = resources::kHtmlEntities;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size()), tab = rest.find('\t');
    std::u32string characters;
    for (const char* at = rest.data() + tab; at < rest.data() + end;) {
      std::uint32_t c = 0;
      at = std::from_chars(at + 1, rest.data() + end, c, 16).ptr;
      characters += static_cast<char32_t>(c);
    }
    entities.emplace(std::u32string(rest.begin(), rest.begin() + tab), characters);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return entities;
}

bool is_digit(char32_t c) {
  return c >= U'0' && c <= U'9';
}

int hex_value(char32_t c) {
  if (is_digit(c)) return static_cast<int>(c - U'0');
  const char32_t lower = c | 0x20;
  return c < 0x80 && lower >= U'a' && lower <= U'f' ? static_cast<int>(lower - U'a') + 10 : -1;
}

/// What HTML makes of a number; nothing for characters that must not be referred to.
std::u32string character_of(std::uint32_t number) {
  const auto c = static_cast<char32_t>(number);
  if (number == 0 || number > kLastCodePoint || (number >= 0xD800 && number <= 0xDFFF))
    return {kReplacement};
  if (number >= 0x80 && number <= 0x9F) return {kWindows1252[number - 0x80]};
  const bool control =
      (number < 0x20 && number != 9 && number != 10 && number != 12 && number != 13) ||
      number == 0x7F;
  const bool noncharacter = (number >= 0xFDD0 && number <= 0xFDEF) || (number & 0xFFFE) == 0xFFFE;
  if (control || noncharacter) return {};
  return {c};
}

struct Reference {
  size_t length = 0;  ///< from the '&' on; 0: there is none
  std::u32string characters{};
};

/// text begins with "&#".
Reference numeric(std::u32string_view text) {
  const bool hex = text.size() > 2 && (text[2] == U'x' || text[2] == U'X');
  const size_t first = hex ? 3 : 2;
  size_t at = first;
  std::uint32_t number = 0;
  for (; at < text.size() && (hex ? hex_value(text[at]) >= 0 : is_digit(text[at])); ++at)
    number = std::min(number * (hex ? 16u : 10u) + static_cast<std::uint32_t>(hex_value(text[at])),
                      kLastCodePoint + 1);
  if (at == first) return {};
  if (at < text.size() && text[at] == U';') ++at;
  return {at, character_of(number)};
}

/// text begins with '&'.
Reference named(std::u32string_view text) {
  constexpr std::u32string_view kEnds = U"\t\n\f <&#;";
  size_t end = 1;
  while (end < text.size() && end <= kLongestName && kEnds.find(text[end]) == kEnds.npos) ++end;
  if (end == 1) return {};
  if (end < text.size() && text[end] == U';') ++end;
  const std::u32string_view name = text.substr(1, end - 1);
  for (size_t length = name.size(); length > 1; --length)
    if (auto found = html_entity(name.substr(0, length))) return {1 + length, *found};
  return {};
}

}  // namespace

std::optional<std::u32string> html_entity(std::u32string_view name) {
  static const Entities kEntities = read_entities();
  const auto found = kEntities.find(std::u32string(name));
  if (found == kEntities.end()) return {};
  return found->second;
}

std::u32string unescape_html(std::u32string_view text) {
  std::u32string plain;
  while (!text.empty()) {
    Reference reference;
    if (text.front() == U'&')
      reference = text.size() > 1 && text[1] == U'#' ? numeric(text) : named(text);
    if (reference.length == 0) {
      plain += text.front();
      text.remove_prefix(1);
    } else {
      plain += reference.characters;
      text.remove_prefix(reference.length);
    }
  }
  return plain;
}

}  // namespace vit::text
