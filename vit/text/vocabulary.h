/// Pieces of text and their ids.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace vit::text {

using TokenId = std::uint32_t;

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

/// UTF-8 pieces.
using Vocabulary = std::unordered_map<std::string, TokenId, TextHash, std::equal_to<>>;

inline std::optional<TokenId> find_piece(const Vocabulary& vocabulary, std::string_view piece) {
  const auto found = vocabulary.find(piece);
  if (found == vocabulary.end()) return {};
  return found->second;
}

/// The vocabulary's names for single bytes, "<0x0A>", in models that fall back to bytes.
std::string byte_piece(unsigned char byte);

}  // namespace vit::text
