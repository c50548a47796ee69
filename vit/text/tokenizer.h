/// Text to the ids that a text tower reads.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "vit/text/byte_pairs.h"
#include "vit/text/clean.h"
#include "vit/text/unigram.h"
#include "vit/text/word_piece.h"
#include "vit/text/words.h"

namespace vit::text {

/// A step from text to text, and one from a text to its words. `first`: it begins the whole text.
using Normalizer = std::function<std::u32string(std::u32string text)>;
using Splitter = std::function<Words(std::u32string text, bool first)>;
using TokenModel = std::variant<BytePairs, Unigram, WordPiece>;

/// A piece of text that is one token wherever it stands.
struct AddedToken {
  std::u32string content;
  TokenId id = 0;
  bool normalized = false;  ///< it is looked for after normalisation, not before
  bool strips_left = false;
  bool strips_right = false;
  bool whole_word = false;
};

/// Ids for a model of fixed length.
struct TokenSequence {
  std::vector<TokenId> ids;
  size_t used = 0;         ///< without padding
  bool truncated = false;  ///< the text was longer
};

/// The steps in their order. Immutable once built; shared by threads.
struct Tokenizer {
  TokenModel model;
  TextCleaning cleaning = TextCleaning::kNone;
  std::vector<AddedToken> added{};
  std::vector<Normalizer> normalizers{};
  std::vector<Splitter> splitters{};        ///< each splits what the one before it left
  std::vector<AddedToken> special_words{};  ///< words that are tokens of their own
  std::vector<TokenId> before{};            ///< start tokens
  std::vector<TokenId> after{};             ///< end tokens; they are kept when a text is truncated
  TokenId padding = 0;
  size_t size = 0;  ///< one more than the highest id
};

/// The id of a piece or an added token, or nothing.
std::optional<TokenId> id_of(const Tokenizer& tokenizer, std::string_view piece);

/// The ids of a text alone. Throws an Error naming the byte that is not valid UTF-8.
std::vector<TokenId> encode(const Tokenizer& tokenizer, std::string_view text);

/// The same between start and end tokens, cut or padded to `length`.
TokenSequence encode(const Tokenizer& tokenizer, std::string_view text, size_t length);

}  // namespace vit::text
