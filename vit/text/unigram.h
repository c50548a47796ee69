/// SentencePiece's unigram model: the segmentation whose pieces have the highest sum of scores.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vit/text/vocabulary.h"

namespace vit::text {

class Unigram {
 public:
  struct Piece {
    std::string text;
    float score = 0.0f;
    bool matches = true;        ///< false: control pieces and the unknown one never match text
    bool user_defined = false;  ///< always preferred to other segmentations
  };
  /// Equal sums are told apart by rounding alone, and the two programs round differently.
  enum class Rounding { kSentencePiece, kTokenizers };

  Unigram(std::span<const Piece> pieces, TokenId unknown, Rounding rounding, bool byte_fallback);

  /// Appends the ids of a text.
  void encode(std::u32string_view text, std::vector<TokenId>& ids) const;

  std::optional<TokenId> find(std::string_view piece) const {
    const auto found = find_piece(vocabulary_, piece);
    return found ? found : find_piece(others_, piece);
  }

 private:
  struct Node {
    size_t start = 0;  ///< of the best piece that ends here
    TokenId id = 0;
    double score = 0.0;
    bool reached = false;
  };
  void extend(std::string_view text, size_t at, size_t character, std::vector<Node>& nodes) const;
  void append(std::string_view piece, TokenId id, bool after_unknown,
              std::vector<TokenId>& ids) const;

  Vocabulary vocabulary_;  // the pieces that match text
  Vocabulary others_;      // among them the single bytes
  std::vector<double> scores_;
  size_t longest_ = 1;  ///< bytes of the longest piece
  TokenId unknown_ = 0;
  double unknown_score_ = 0.0;
  Rounding rounding_;
  bool byte_fallback_ = false;
};

}  // namespace vit::text
