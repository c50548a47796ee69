/// SentencePiece's normalisation table: a trie from UTF-8 sequences to what replaces them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vit::text {

class CharactersMap {
 public:
  CharactersMap() = default;
  /// `bytes` as a model file stores them. Throws an Error where the table is cut short; `where`
  /// opens the message.
  CharactersMap(std::string_view bytes, std::string_view where);

  /// The longest sequence of the table at each place replaced, all else copied.
  std::u32string apply(std::u32string_view text) const;

  /// As the library "tokenizers" applies such a table: a grapheme cluster of at most five bytes is
  /// replaced as a whole by what its shortest beginning in the table stands for; what is left goes
  /// character by character.
  std::u32string apply_to_clusters(std::u32string_view text) const;

 private:
  struct Match {
    size_t length = 0;  ///< in bytes; 0: none
    size_t replacement = 0;
  };
  enum class Which { kShortest, kLongest };
  Match match(std::string_view text, Which which) const;
  /// What a match stands for; nothing where there is none, or the table ends before it.
  std::optional<std::string_view> replacement_of(const Match& match) const;
  std::uint32_t unit(size_t index) const { return index < units_.size() ? units_[index] : 0; }

  std::vector<std::uint32_t> units_;  // a double-array trie, as Darts writes it
  std::string replacements_;          // each ends in a NUL
};

/// Throws an Error naming the first character that is not base64; `where` opens the message.
std::string decode_base64(std::string_view text, std::string_view where);

}  // namespace vit::text
