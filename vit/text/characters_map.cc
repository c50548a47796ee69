#include "vit/text/characters_map.h"

#include <algorithm>
#include <cstring>

#include "vit/base/error.h"
#include "vit/text/growth.h"
#include "vit/text/unicode.h"

namespace vit::text {
namespace {

// The bits of a unit: the label of the edge that leads to it, whether a value follows, the offset
// of its children.
std::uint32_t label(std::uint32_t unit) {
  return unit & 0x800000FFu;
}
bool has_value(std::uint32_t unit) {
  return (unit >> 8 & 1) != 0;
}
std::uint32_t offset(std::uint32_t unit) {
  return (unit >> 10) << ((unit & 512) >> 6);
}
std::uint32_t value(std::uint32_t unit) {
  return unit & 0x7FFFFFFFu;
}

}  // namespace

CharactersMap::CharactersMap(std::string_view bytes, std::string_view where) {
  if (bytes.empty()) return;
  std::uint32_t trie = 0;
  if (bytes.size() >= sizeof trie) std::memcpy(&trie, bytes.data(), sizeof trie);
  if (bytes.size() < sizeof trie || trie > bytes.size() - sizeof trie || trie % 4 != 0)
    fail(where, ": the normalisation table says ", trie, " bytes of trie in ", bytes.size(),
         " bytes");
  units_.resize(trie / 4);
  std::memcpy(units_.data(), bytes.data() + sizeof trie, trie);
  replacements_ = bytes.substr(sizeof trie + trie);
}

CharactersMap::Match CharactersMap::longest_match(std::string_view text) const {
  Match best;
  std::uint32_t node = offset(unit(0));
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    if (node >= units_.size() || label(unit(node)) != byte) break;
    const std::uint32_t found = unit(node);
    node ^= offset(found);
    if (has_value(found)) best = {i + 1, value(unit(node))};
  }
  return best;
}

std::u32string CharactersMap::apply(std::u32string_view characters) const {
  if (units_.empty()) return std::u32string(characters);
  const std::string text = encode_utf8(characters);
  std::string mapped;
  for (size_t at = 0; at < text.size();) {
    const Match match = longest_match(std::string_view(text).substr(at));
    if (match.length != 0 && match.replacement < replacements_.size()) {
      const std::string_view rest = std::string_view(replacements_).substr(match.replacement);
      mapped += rest.substr(0, rest.find('\0'));
      check_growth(text.size(), mapped.size(), "the normalisation table");
      at += match.length;
      continue;
    }
    do mapped += text[at++];
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  }
  return decode_utf8(mapped, "the normalisation table's output");
}

std::string decode_base64(std::string_view text, std::string_view where) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t digit = kDigits.find(text[i]);
    if (digit == kDigits.npos) fail(where, ": character ", i, " is not base64");
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xFF);
  }
  return bytes;
}

}  // namespace vit::text
