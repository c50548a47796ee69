#include "vit/text/sentencepiece_file.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "vit/base/error.h"
#include "vit/text/characters_map.h"
#include "vit/text/protocol_buffer.h"
#include "vit/text/unicode.h"

namespace vit::text {
namespace {

constexpr char32_t kSpaceSymbol = 0x2581;
constexpr size_t kLongestPiece = 1024;  // published models stay below 100

enum class PieceKind { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

struct Piece {
  std::string text;
  float score = 0.0f;
  PieceKind kind = PieceKind::kNormal;
};

/// The fields of the file that encoding needs, with the format's defaults.
struct Model {
  std::vector<Piece> pieces;
  std::uint64_t kind = 1;  // 1: unigram, 2: byte pairs
  bool byte_fallback = false;
  bool spaces_after_words = false;
  std::uint64_t unknown = 0, end = 2, padding = static_cast<std::uint64_t>(-1);
  std::string characters_map;
  bool dummy_prefix = true, remove_extra_spaces = true, escape_spaces = true;
};

Piece read_piece(std::string_view bytes, std::string_view where) {
  Piece piece;
  for (ProtocolReader reader(bytes, where); !reader.done();) {
    const ProtocolField field = reader.next();
    if (field.number == 1) piece.text = field.bytes;
    if (field.number == 2) piece.score = field.real();
    if (field.number == 3) piece.kind = static_cast<PieceKind>(field.integer);
  }
  if (piece.text.size() > kLongestPiece)
    fail_at(where, "a piece of ", piece.text.size(), " bytes, at most ", kLongestPiece);
  if (!std::isfinite(piece.score)) fail_at(where, "the score of a piece is not finite");
  decode_utf8(piece.text, std::string(where) + ": a piece");
  return piece;
}

void read_trainer(std::string_view bytes, std::string_view where, Model& model) {
  for (ProtocolReader reader(bytes, where); !reader.done();) {
    const ProtocolField field = reader.next();
    if (field.number == 3) model.kind = field.integer;
    if (field.number == 24) model.spaces_after_words = field.integer != 0;
    if (field.number == 35) model.byte_fallback = field.integer != 0;
    if (field.number == 40) model.unknown = field.integer;
    if (field.number == 42) model.end = field.integer;
    if (field.number == 43) model.padding = field.integer;
  }
}

void read_normalizer(std::string_view bytes, std::string_view where, Model& model) {
  for (ProtocolReader reader(bytes, where); !reader.done();) {
    const ProtocolField field = reader.next();
    if (field.number == 2) model.characters_map = field.bytes;
    if (field.number == 3) model.dummy_prefix = field.integer != 0;
    if (field.number == 4) model.remove_extra_spaces = field.integer != 0;
    if (field.number == 5) model.escape_spaces = field.integer != 0;
  }
}

Model read_model(std::string_view bytes, std::string_view where) {
  Model model;
  for (ProtocolReader reader(bytes, where); !reader.done();) {
    const ProtocolField field = reader.next();
    if (field.number == 1) model.pieces.push_back(read_piece(field.bytes, where));
    if (field.number == 2) read_trainer(field.bytes, where, model);
    if (field.number == 3) read_normalizer(field.bytes, where, model);
  }
  if (model.pieces.empty()) fail_at(where, "is not a SentencePiece model: it holds no pieces");
  if (model.kind != 1 && model.kind != 2)
    fail_at(where, "SentencePiece model of kind ", model.kind,
            ", expected 1 (unigram) or 2 (byte pairs)");
  if (model.spaces_after_words) fail_at(where, "spaces as suffixes of words are not supported");
  for (size_t i = 0; i < model.pieces.size(); ++i)
    if (model.pieces[i].kind == PieceKind::kUnknown) model.unknown = i;
  if (model.unknown >= model.pieces.size()) fail_at(where, "it has no piece for unknown text");
  return model;
}

bool is_plain_space(char32_t c) {
  return c == U' ';
}

/// Trims and collapses spaces, puts one in front, and writes them as U+2581, as the file says.
Normalizer spacing_of(const Model& model, const std::string& where) {
  const auto map = std::make_shared<const CharactersMap>(model.characters_map, where);
  return [map, tidy = model.remove_extra_spaces, prefix = model.dummy_prefix,
          escape = model.escape_spaces](std::u32string text) {
    text = map->apply(text);
    if (tidy) text = strip_spaces(collapse_spaces(text, is_plain_space), is_plain_space);
    if (text.empty()) return text;
    if (prefix) text.insert(text.begin(), U' ');
    if (escape) std::replace(text.begin(), text.end(), U' ', kSpaceSymbol);
    return text;
  };
}

Unigram unigram_of(const Model& model) {
  std::vector<Unigram::Piece> pieces;
  for (const Piece& piece : model.pieces)
    pieces.push_back({piece.text, piece.score,
                      piece.kind == PieceKind::kNormal || piece.kind == PieceKind::kUserDefined,
                      piece.kind == PieceKind::kUserDefined});
  return {pieces, static_cast<TokenId>(model.unknown), Unigram::Rounding::kSentencePiece,
          model.byte_fallback};
}

BytePairs byte_pairs_of(const Model& model) {
  Vocabulary all, mergeable;
  std::vector<float> scores;
  for (size_t i = 0; i < model.pieces.size(); ++i) {
    const Piece& piece = model.pieces[i];
    scores.push_back(piece.score);
    all.try_emplace(piece.text, static_cast<TokenId>(i));
    if (piece.kind == PieceKind::kNormal)
      mergeable.try_emplace(piece.text, static_cast<TokenId>(i));
  }
  return {std::move(all), merges_of(mergeable, scores),
          BytePairs::Options{.unknown = static_cast<TokenId>(model.unknown),
                             .fuse_unknown = true,
                             .byte_fallback = model.byte_fallback}};
}

}  // namespace

Tokenizer read_sentencepiece(std::string_view bytes, const std::string& where) {
  const Model model = read_model(bytes, where);
  const bool unigram = model.kind == 1;
  Tokenizer tokenizer{.model = unigram ? TokenModel(unigram_of(model))
                                       : TokenModel(byte_pairs_of(model))};
  tokenizer.normalizers.push_back(spacing_of(model, where));
  for (size_t i = 0; i < model.pieces.size() && !unigram; ++i)
    if (model.pieces[i].kind == PieceKind::kUserDefined)
      tokenizer.added.push_back(
          {decode_utf8(model.pieces[i].text, where), static_cast<TokenId>(i)});
  if (model.end < model.pieces.size()) tokenizer.after = {static_cast<TokenId>(model.end)};
  if (model.padding < model.pieces.size()) tokenizer.padding = static_cast<TokenId>(model.padding);
  tokenizer.size = model.pieces.size();
  return tokenizer;
}

}  // namespace vit::text
