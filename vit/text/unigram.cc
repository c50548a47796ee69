#include "vit/text/unigram.h"

#include <algorithm>
#include <limits>

#include "vit/text/unicode.h"

namespace vit::text {
namespace {

constexpr double kUnknownPenalty = 10.0;

size_t character_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte < 0x80) return 1;
  if (byte < 0xE0) return 2;
  return byte < 0xF0 ? 3 : 4;
}

}  // namespace

Unigram::Unigram(std::span<const Piece> pieces, TokenId unknown, Rounding rounding,
                 bool byte_fallback)
    : unknown_(unknown), rounding_(rounding), byte_fallback_(byte_fallback) {
  float lowest = std::numeric_limits<float>::max(), highest = std::numeric_limits<float>::lowest();
  for (const Piece& piece : pieces) {
    if (!piece.matches || piece.user_defined) continue;
    lowest = std::min(lowest, piece.score);
    highest = std::max(highest, piece.score);
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    const auto characters = static_cast<float>(decode_utf8(piece.text, "piece").size());
    scores_.push_back(piece.user_defined ? characters * highest - 0.1 : double{piece.score});
    (piece.matches ? vocabulary_ : others_).try_emplace(piece.text, static_cast<TokenId>(i));
    if (piece.matches) longest_ = std::max(longest_, piece.text.size());
  }
  unknown_score_ = static_cast<float>(lowest - static_cast<float>(kUnknownPenalty));
}

/// Every piece that starts at byte `at`, where a character of `character` bytes begins.
void Unigram::extend(std::string_view text, size_t at, size_t character,
                     std::vector<Node>& nodes) const {
  const auto offer = [&](size_t length, TokenId id, double score) {
    const double sum = score + nodes[at].score;
    Node& node = nodes[at + length];
    if (node.reached && sum <= node.score) return;
    const bool rounds = rounding_ == Rounding::kSentencePiece;
    node = {at, id, rounds ? static_cast<float>(sum) : sum, true};
  };
  bool covered = false;
  const size_t longest = std::min(longest_, text.size() - at);
  for (size_t length = character; length <= longest;) {
    if (const auto id = find_piece(vocabulary_, text.substr(at, length))) {
      covered = covered || length == character;
      offer(length, *id, scores_[*id]);
    }
    if (length >= longest) break;
    length += character_length(text[at + length]);
  }
  if (!covered) offer(character, unknown_, unknown_score_);
}

void Unigram::append(std::string_view piece, TokenId id, bool after_unknown,
                     std::vector<TokenId>& ids) const {
  if (id == unknown_ && byte_fallback_) {
    std::vector<TokenId> bytes;
    for (const char byte : piece)
      if (const auto known = find_piece(others_, byte_piece(static_cast<unsigned char>(byte))))
        bytes.push_back(*known);
    if (bytes.size() == piece.size()) {
      ids.insert(ids.end(), bytes.begin(), bytes.end());
      return;
    }
  }
  if (id != unknown_ || !after_unknown) ids.push_back(id);  // neighbouring unknowns are one token
}

void Unigram::encode(std::u32string_view characters, std::vector<TokenId>& ids) const {
  const std::string text = encode_utf8(characters);
  std::vector<Node> nodes(text.size() + 1);
  nodes[0].reached = true;
  for (size_t at = 0; at < text.size(); at += character_length(text[at]))
    if (nodes[at].reached) extend(text, at, character_length(text[at]), nodes);

  std::vector<size_t> ends;
  for (size_t end = text.size(); end > 0; end = nodes[end].start) ends.push_back(end);
  bool after_unknown = false;
  for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
    const Node& node = nodes[*end];
    append(std::string_view(text).substr(node.start, *end - node.start), node.id, after_unknown,
           ids);
    after_unknown = node.id == unknown_;
  }
}

}  // namespace vit::text
