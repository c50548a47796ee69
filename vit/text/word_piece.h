/// WordPiece: the longest piece of the vocabulary first, "##" before pieces inside a word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vit/text/vocabulary.h"

namespace vit::text {

class WordPiece {
 public:
  struct Options {
    TokenId unknown = 0;
    std::string inner_prefix = "##";
    size_t longest_word = 100;  ///< characters; longer words are unknown
  };

  WordPiece(Vocabulary vocabulary, Options options)
      : vocabulary_(std::move(vocabulary)), options_(std::move(options)) {}

  /// Appends the ids of a word.
  void encode(std::u32string_view word, std::vector<TokenId>& ids) const;

  std::optional<TokenId> find(std::string_view piece) const {
    return find_piece(vocabulary_, piece);
  }

 private:
  Vocabulary vocabulary_;
  Options options_;
};

}  // namespace vit::text
