#include "vit/text/characters_map.h"

#include <algorithm>
#include <cstring>

#include "vit/base/encoding.h"
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

constexpr std::string_view kTable = "the normalisation table";

}  // namespace

CharactersMap::CharactersMap(std::string_view bytes, std::string_view where) {
  if (bytes.empty()) return;
  std::uint32_t trie = 0;
  if (bytes.size() >= sizeof trie) std::memcpy(&trie, bytes.data(), sizeof trie);
  if (bytes.size() < sizeof trie || trie > bytes.size() - sizeof trie || trie % 4 != 0)
    fail_at(where, "the normalisation table says ", trie, " bytes of trie in ", bytes.size(),
            " bytes");
  units_.resize(trie / 4);
  std::memcpy(units_.data(), bytes.data() + sizeof trie, trie);
  replacements_ = bytes.substr(sizeof trie + trie);
}

CharactersMap::Match CharactersMap::match(std::string_view text, Which which) const {
  Match best;
  std::uint32_t node = offset(unit(0));
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    if (node >= units_.size() || label(unit(node)) != byte) break;
    const std::uint32_t found = unit(node);
    node ^= offset(found);
    if (!has_value(found)) continue;
    best = {i + 1, value(unit(node))};
    if (which == Which::kShortest) break;
  }
  return best;
}

std::optional<std::string_view> CharactersMap::replacement_of(const Match& match) const {
  if (match.length == 0 || match.replacement >= replacements_.size()) return {};
  const std::string_view rest = std::string_view(replacements_).substr(match.replacement);
  return rest.substr(0, rest.find('\0'));
}

std::u32string CharactersMap::apply(std::u32string_view characters) const {
  if (units_.empty()) return std::u32string(characters);
  const std::string text = encode_utf8(characters);
  std::string mapped;
  for (size_t at = 0; at < text.size();) {
    const Match found = match(std::string_view(text).substr(at), Which::kLongest);
    if (const auto replacement = replacement_of(found)) {
      mapped += *replacement;
      check_growth(text.size(), mapped.size(), kTable);
      at += found.length;
      continue;
    }
    do mapped += text[at++];
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  }
  return decode_utf8(mapped, kTable);
}

std::u32string CharactersMap::apply_to_clusters(std::u32string_view text) const {
  if (units_.empty()) return std::u32string(text);
  std::string mapped;
  const auto replace = [&](std::string_view bytes) {
    const auto replacement = replacement_of(match(bytes, Which::kShortest));
    if (replacement) mapped += *replacement;
    return replacement.has_value();
  };
  for (size_t at = 0; at < text.size();) {
    const std::u32string_view cluster = text.substr(at, cluster_length(text.substr(at)));
    at += cluster.size();
    if (const std::string bytes = encode_utf8(cluster); bytes.size() <= 5 && replace(bytes))
      continue;
    for (const char32_t c : cluster)
      if (const std::string bytes = encode_utf8({&c, 1}); !replace(bytes)) mapped += bytes;
    check_growth(text.size(), mapped.size(), kTable);
  }
  return decode_utf8(mapped, kTable);
}

std::string decode_base64(std::string_view text, std::string_view where) {
  while (text.ends_with('=')) text.remove_suffix(1);
  const size_t length = text.size();
  std::string bytes = take_base64(text);
  if (!text.empty()) fail_at(where, "character ", length - text.size(), " is not base64");
  return bytes;
}

}  // namespace vit::text
