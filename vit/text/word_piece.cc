#include "vit/text/word_piece.h"

#include "vit/text/unicode.h"

namespace vit::text {

void WordPiece::encode(std::u32string_view word, std::vector<TokenId>& ids) const {
  const size_t before = ids.size();
  const auto give_up = [&] {
    ids.resize(before);
    ids.push_back(options_.unknown);
  };
  if (word.size() > options_.longest_word) return give_up();
  for (size_t start = 0; start < word.size();) {
    size_t length = word.size() - start;
    for (; length > 0; --length) {
      const std::string piece = encode_utf8(word.substr(start, length));
      const auto id = find_piece(vocabulary_, start == 0 ? piece : options_.inner_prefix + piece);
      if (!id) continue;
      ids.push_back(*id);
      break;
    }
    if (length == 0) return give_up();
    start += length;
  }
}

}  // namespace vit::text
