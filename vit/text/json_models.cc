#include <cmath>

#include "vit/base/error.h"
#include "vit/text/json_steps.h"
#include "vit/text/unicode.h"

namespace vit::text {
namespace {

using nlohmann::json;

constexpr std::uint64_t kHighestId = 10'000'000;
constexpr size_t kLongestPiece = 1024;

/// {"piece": id, …}
Vocabulary read_vocabulary(const Fields& model, size_t& pieces) {
  const json* list = model.find("vocab");
  if (list == nullptr || !list->is_object()) model.refuse("vocab", "pieces with their ids");
  Vocabulary vocabulary;
  vocabulary.reserve(list->size());
  for (const auto& [piece, id] : list->items()) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() > kHighestId)
      model.refuse("vocab", "an id from 0 to 10,000,000 for each piece");
    vocabulary.emplace(piece, id.get<TokenId>());
    pieces = std::max(pieces, size_t{id.get<TokenId>()} + 1);
  }
  return vocabulary;
}

/// ["a b", …] as older files have it, or [["a", "b"], …].
std::vector<std::pair<std::string, std::string>> read_merges(const Fields& model) {
  const json* list = model.find("merges");
  if (list == nullptr || !list->is_array()) model.refuse("merges", "a list of pairs");
  std::vector<std::pair<std::string, std::string>> merges;
  merges.reserve(list->size());
  for (const json& merge : *list) {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      merges.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
      continue;
    }
    const std::string text = merge.is_string() ? merge.get<std::string>() : "";
    const size_t space = text.find(' ');
    if (space == text.npos) model.refuse("merges", "a list of pairs");
    merges.emplace_back(text.substr(0, space), text.substr(space + 1));
  }
  return merges;
}

void refuse_setting(const Fields& model, std::string_view name) {
  const json* value = model.find(name);
  const bool unset = value == nullptr || (value->is_string() && value->empty()) ||
                     (value->is_string() && value->get_ref<const std::string&>().empty());
  if (!unset) model.refuse(name, "nothing: this toolkit does not know it");
}

std::optional<TokenId> read_unknown(const Fields& model, const Vocabulary& vocabulary) {
  const auto piece = model.text("unk_token");
  if (!piece) return {};
  const auto id = find_piece(vocabulary, *piece);
  if (!id) model.refuse("unk_token", "a piece of the vocabulary");
  return id;
}

BytePairs read_byte_pairs(const Fields& model, size_t& pieces) {
  refuse_setting(model, "continuing_subword_prefix");
  Vocabulary vocabulary = read_vocabulary(model, pieces);
  const auto merges = merges_of(vocabulary, read_merges(model), model.where());
  BytePairs::Options options{.end_of_word = model.text("end_of_word_suffix").value_or(""),
                             .unknown = read_unknown(model, vocabulary),
                             .fuse_unknown = model.flag("fuse_unk").value_or(false),
                             .byte_fallback = model.flag("byte_fallback").value_or(false),
                             .ignore_merges = model.flag("ignore_merges").value_or(false)};
  return {std::move(vocabulary), merges, std::move(options)};
}

/// [["piece", score], …]
Unigram read_unigram(const Fields& model, size_t& pieces) {
  const json* list = model.find("vocab");
  if (list == nullptr || !list->is_array() || list->empty())
    model.refuse("vocab", "a list of pieces and scores");
  const size_t unknown = model.size("unk_id").value_or(list->size());
  if (unknown >= list->size()) model.refuse("unk_id", "the number of a piece");
  std::vector<Unigram::Piece> entries;
  for (const json& entry : *list) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
      model.refuse("vocab", "a list of pieces and scores");
    Unigram::Piece piece{entry[0].get<std::string>(), entry[1].get<float>()};
    if (piece.text.size() > kLongestPiece || !std::isfinite(piece.score))
      model.refuse("vocab", "pieces of at most 1024 bytes with finite scores");
    entries.push_back(std::move(piece));
  }
  // Special pieces never match: they are added tokens, which are found before the model runs.
  entries[unknown].matches = false;
  pieces = entries.size();
  return {entries, static_cast<TokenId>(unknown), Unigram::Rounding::kTokenizers,
          model.flag("byte_fallback").value_or(false)};
}

WordPiece read_word_piece(const Fields& model, size_t& pieces) {
  Vocabulary vocabulary = read_vocabulary(model, pieces);
  const auto unknown = read_unknown(model, vocabulary);
  if (!unknown) model.refuse("unk_token", "a piece of the vocabulary");
  WordPiece::Options options{.unknown = *unknown,
                             .inner_prefix = model.text("continuing_subword_prefix").value_or("##"),
                             .longest_word = model.size("max_input_chars_per_word").value_or(100)};
  return {std::move(vocabulary), std::move(options)};
}

/// Older files do not name the type; the fields identify the model.
std::string type_of(const Fields& model) {
  if (const auto type = model.text("type")) return *type;
  if (model.has("merges")) return "BPE";
  return model.has("unk_id") ? "Unigram" : "WordPiece";
}

}  // namespace

TokenModel read_model(const Fields& model, size_t& pieces) {
  const std::string type = type_of(model);
  if (type == "BPE") return read_byte_pairs(model, pieces);
  if (type == "Unigram") return read_unigram(model, pieces);
  if (type == "WordPiece") return read_word_piece(model, pieces);
  refuse_type(model, "model", "BPE, Unigram, WordPiece");
}

}  // namespace vit::text
