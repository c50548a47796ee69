/// Byte-pair encoding: adjacent symbols are merged, the pair of lowest rank first.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "vit/text/vocabulary.h"

namespace vit::text {

class BytePairs {
 public:
  struct Options {
    std::string end_of_word{};         ///< appended to the last symbol of a word: "</w>"
    std::optional<TokenId> unknown{};  ///< of symbols without an id; nothing: they are dropped
    bool fuse_unknown = false;         ///< neighbouring unknown symbols are one token
    bool byte_fallback = false;        ///< symbols without an id become their bytes "<0x..>"
    bool ignore_merges = false;        ///< a word that is in the vocabulary is one token
  };
  struct Merge {
    TokenId left = 0;
    TokenId right = 0;
    TokenId result = 0;
    std::uint32_t rank = 0;
  };

  BytePairs(Vocabulary vocabulary, std::span<const Merge> merges, Options options);

  /// Appends the ids of a word.
  void encode(std::u32string_view word, std::vector<TokenId>& ids) const;

  std::optional<TokenId> find(std::string_view piece) const {
    return find_piece(vocabulary_, piece);
  }

 private:
  struct Target {
    std::uint32_t rank = 0;
    TokenId result = 0;
  };
  const Target* merge_of(TokenId left, TokenId right) const;
  std::vector<TokenId> symbols_of(std::u32string_view word) const;
  std::vector<TokenId> bytes_of(std::string_view character) const;

  Vocabulary vocabulary_;
  std::unordered_map<std::uint64_t, Target> merges_;
  Options options_;
};

/// Merges of a list of pairs of pieces, ranked by their order. Throws an Error naming the line of a
/// pair whose pieces, or whose union, the vocabulary lacks; `where` opens the message.
std::vector<BytePairs::Merge> merges_of(const Vocabulary& vocabulary,
                                        std::span<const std::pair<std::string, std::string>> pairs,
                                        std::string_view where);

/// Merges of pieces with scores: every pair of pieces whose union is a piece, ranked by the union's
/// score, the highest first.
std::vector<BytePairs::Merge> merges_of(const Vocabulary& vocabulary,
                                        std::span<const float> scores);

}  // namespace vit::text
