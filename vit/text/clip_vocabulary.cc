#include "vit/text/clip_vocabulary.h"

#include <algorithm>

#include "vit/base/error.h"
#include "vit/text/gzip.h"
#include "vit/text/tokenizer_json.h"
#include "vit/text/unicode.h"

namespace vit::text {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kEndOfWord = "</w>";
constexpr size_t kBytes = 256;

/// Lines "left right". The first line of the file is a header.
Pairs read_pairs(std::string_view text, const std::string& where, size_t most) {
  Pairs pairs;
  size_t number = 0;
  while (!text.empty() && pairs.size() < most) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (number == 1 || line.empty()) continue;
    const size_t space = line.find(' ');
    if (space == 0 || space == line.npos || space + 1 == line.size())
      fail_at(where, "line ", number, " is not a pair of pieces");
    pairs.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return pairs;
}

/// The bytes' symbols, once plain and, where `end_of_word` is not empty, once at the end of a word;
/// then what each pair makes.
Vocabulary numbered(const Pairs& pairs, std::string_view end_of_word) {
  Vocabulary vocabulary;
  const std::u32string alphabet = byte_alphabet();
  const auto add = [&](std::string piece) {
    const auto id = static_cast<TokenId>(vocabulary.size());
    vocabulary.try_emplace(std::move(piece), id);
  };
  for (const char32_t c : alphabet) add(encode_utf8({&c, 1}));
  if (!end_of_word.empty())
    for (const char32_t c : alphabet) add(encode_utf8({&c, 1}) + std::string(end_of_word));
  for (const auto& [left, right] : pairs) add(left + right);
  return vocabulary;
}

Words clip_byte_words(const std::u32string& text, const std::vector<std::u32string>& specials,
                      Case contractions) {
  Words words = clip_words(text, specials, contractions);
  for (auto& word : words)
    if (std::find(specials.begin(), specials.end(), word) == specials.end())
      word = byte_symbols(word);
  return words;
}

void set_open_clip_words(ClipSpecials spelling, Tokenizer& tokenizer) {
  const bool openai = spelling == ClipSpecials::kOpenAi;
  const std::vector<std::u32string> specials =
      openai ? std::vector<std::u32string>{U"<|startoftext|>", U"<|endoftext|>"}
             : std::vector<std::u32string>{U"<start_of_text>", U"<end_of_text>"};
  tokenizer.cleaning = TextCleaning::kRepairLower;
  tokenizer.added.clear();
  tokenizer.normalizers.clear();
  tokenizer.splitters = {[specials](const std::u32string& text, bool) {
    return clip_byte_words(text, specials, Case::kFolded);
  }};
  tokenizer.special_words = {{specials[0], tokenizer.before.front()},
                             {specials[1], tokenizer.after.front()}};
  tokenizer.padding = 0;
}

}  // namespace

Tokenizer read_clip_merges(const std::filesystem::path& gzip, size_t size, ClipSpecials specials) {
  constexpr size_t kOthers = 2 * kBytes + 2;
  const std::string where = gzip.string();
  if (size <= kOthers)
    fail_at(where, "a vocabulary of ", size, " tokens has no room for CLIP's merges");
  const Pairs pairs = read_pairs(read_gzip(gzip), where, size - kOthers);
  if (pairs.size() != size - kOthers)
    fail_at(where, "holds ", pairs.size(), " merges, expected ", size - kOthers,
            " for the model's ", size, " tokens");
  Vocabulary vocabulary = numbered(pairs, kEndOfWord);
  const auto merges = merges_of(vocabulary, pairs, where);
  Tokenizer tokenizer{
      .model = BytePairs(std::move(vocabulary), merges, {.end_of_word = std::string(kEndOfWord)})};
  tokenizer.before = {static_cast<TokenId>(size - 2)};
  tokenizer.after = {static_cast<TokenId>(size - 1)};
  tokenizer.size = size;
  set_open_clip_words(specials, tokenizer);
  return tokenizer;
}

Tokenizer read_clip_vocabulary(const std::filesystem::path& vocabulary,
                               const std::filesystem::path& merges) {
  const nlohmann::json content = weights::read_json(vocabulary, kTokenizerLimits);
  Vocabulary pieces;
  size_t size = 0;
  for (const auto& [piece, id] : content.items()) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() > 10'000'000)
      fail_at(vocabulary.string(), "piece '", piece, "' has no id");
    pieces.emplace(piece, id.get<TokenId>());
    size = std::max(size, size_t{id.get<TokenId>()} + 1);
  }
  const auto mark = [&](std::string_view piece) {
    const auto id = find_piece(pieces, piece);
    if (!id) fail_at(vocabulary.string(), "lacks the token '", piece, "'");
    return *id;
  };
  const TokenId start = mark("<|startoftext|>"), end = mark("<|endoftext|>");
  const std::string where = merges.string();
  const Pairs pairs = read_pairs(read_text(merges), where, pieces.size());
  const auto ranked = merges_of(pieces, pairs, where);
  Tokenizer tokenizer{.model = BytePairs(std::move(pieces), ranked,
                                         {.end_of_word = std::string(kEndOfWord), .unknown = end})};
  tokenizer.added = {{.content = U"<|startoftext|>", .id = start, .normalized = true},
                     {.content = U"<|endoftext|>", .id = end, .normalized = true}};
  tokenizer.normalizers = {
      [](const std::u32string& text) { return normalized(text, NormalForm::kC); },
      [](const std::u32string& text) { return lowercase(collapse_spaces(text)); }};
  tokenizer.splitters = {
      [](const std::u32string& text, bool) { return clip_byte_words(text, {}, Case::kExact); }};
  tokenizer.before = {start};
  tokenizer.after = {end};
  tokenizer.padding = end;
  tokenizer.size = size;
  return tokenizer;
}

Tokenizer as_open_clip(Tokenizer tokenizer, ClipSpecials specials) {
  if (tokenizer.before.size() != 1 || tokenizer.after.size() != 1)
    fail("the tokenizer has no start and end token, as CLIP's has");
  set_open_clip_words(specials, tokenizer);
  return tokenizer;
}

Tokenizer read_gpt2_merges(const std::filesystem::path& gzip) {
  const std::string where = gzip.string(), text = read_gzip(gzip);
  const Pairs pairs = read_pairs(text, where, text.size());
  Vocabulary vocabulary = numbered(pairs, {});
  const auto merges = merges_of(vocabulary, pairs, where);
  const auto end = static_cast<TokenId>(vocabulary.size());
  Tokenizer tokenizer{.model = BytePairs(std::move(vocabulary), merges, {})};
  tokenizer.added = {{.content = U"<|endoftext|>", .id = end}};
  tokenizer.splitters = {[](const std::u32string& text_, bool) {
    Words words = gpt2_words(text_);
    for (auto& word : words) word = byte_symbols(word);
    return words;
  }};
  tokenizer.size = end + 1;
  return tokenizer;
}

Tokenizer read_bert_vocabulary(const std::filesystem::path& path, bool lowercase) {
  const std::string text = read_text(path);
  nlohmann::json vocabulary = nlohmann::json::object();
  size_t id = 0;
  for (std::string_view rest = text; !rest.empty(); ++id) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view piece = rest.substr(0, end);
    if (piece.ends_with('\r')) piece.remove_suffix(1);
    vocabulary.emplace(std::string(piece), id);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (const auto* piece : {"[UNK]", "[CLS]", "[SEP]"})
    if (!vocabulary.contains(piece)) fail_at(path.string(), "lacks the token '", piece, "'");
  const nlohmann::json start = {"[CLS]", vocabulary["[CLS]"]}, end = {"[SEP]", vocabulary["[SEP]"]};
  return parse_tokenizer_json(
      {{"normalizer", {{"type", "BertNormalizer"}, {"lowercase", lowercase}}},
       {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
       {"post_processor", {{"type", "BertProcessing"}, {"cls", start}, {"sep", end}}},
       {"model",
        {{"type", "WordPiece"}, {"unk_token", "[UNK]"}, {"vocab", std::move(vocabulary)}}}},
      path.string());
}

}  // namespace vit::text
