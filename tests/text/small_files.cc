#include "tests/text/small_files.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/support/deflate.h"
#include "vit/text/unicode.h"
#include "vit/text/words.h"

namespace vit::text::test {
namespace {

using nlohmann::json;

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

std::string number_field(unsigned number, std::uint64_t value) {
  return varint(number << 3) + varint(value);
}

std::string bytes_field(unsigned number, const std::string& bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}

std::string float_field(unsigned number, float value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return varint(number << 3 | 5) + bytes;
}

json clip_vocabulary() {
  json vocabulary = json::object();
  const auto add = [&](const std::string& piece) { vocabulary.emplace(piece, vocabulary.size()); };
  for (const auto* end : {"", "</w>"})
    for (const char32_t c : byte_alphabet()) add(encode_utf8({&c, 1}) + end);
  for (const auto* piece : {"ca", "cat</w>", "do", "dog</w>", "<|startoftext|>", "<|endoftext|>"})
    add(piece);
  return vocabulary;
}

json added(const std::string& content, size_t id, bool normalized) {
  return {{"content", content}, {"id", id}, {"normalized", normalized}};
}

json bert_model() {
  json vocabulary = json::object();
  for (const auto* piece :
       {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "cat", "play", "##ing", "##s", ",", "cafe"})
    vocabulary.emplace(piece, vocabulary.size());
  return {{"type", "WordPiece"}, {"unk_token", "[UNK]"}, {"vocab", vocabulary}};
}

}  // namespace

std::string clip_merges() {
  return "#version\nc a\nca t</w>\nd o\ndo g</w>\n";
}

std::string gzip(const std::string& text) {
  return vit::test::deflated(text, 16 + MAX_WBITS);
}

std::string clip_vocab_json() {
  return clip_vocabulary().dump();
}

std::string clip_merges_txt() {
  return clip_merges();
}

std::string clip_tokenizer_json() {
  const json split{
      {"type", "Split"},
      {"pattern", {{"Regex", "'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+"}}},
      {"behavior", "Removed"},
      {"invert", true}};
  const json start = {"<|startoftext|>", 516}, end = {"<|endoftext|>", 517};
  const json file{
      {"added_tokens", {added("<|startoftext|>", 516, true), added("<|endoftext|>", 517, false)}},
      {"normalizer",
       {{"type", "Sequence"},
        {"normalizers",
         {{{"type", "NFC"}},
          {{"type", "Replace"}, {"pattern", {{"Regex", "\\s+"}}}, {"content", " "}},
          {{"type", "Lowercase"}}}}}},
      {"pre_tokenizer",
       {{"type", "Sequence"},
        {"pretokenizers", {split, {{"type", "ByteLevel"}, {"add_prefix_space", false}}}}}},
      {"post_processor", {{"type", "RobertaProcessing"}, {"cls", start}, {"sep", end}}},
      {"model",
       {{"type", "BPE"},
        {"unk_token", "<|endoftext|>"},
        {"continuing_subword_prefix", ""},
        {"end_of_word_suffix", "</w>"},
        {"vocab", clip_vocabulary()},
        {"merges", {"c a", "ca t</w>", "d o", "do g</w>"}}}}};
  return file.dump();
}

std::vector<SentencePiece> unigram_pieces() {
  return {{"<pad>", 0, 3},      {"</s>", 0, 3},    {"<unk>", 0, 2},       {"\u2581a", -2.0f},
          {"\u2581cat", -3.0f}, {"\u2581", -4.0f}, {"c", -5.0f},          {"a", -5.0f},
          {"t", -5.0f},         {"at", -4.5f},     {"\u2581photo", -3.5f}};
}

std::string unigram_tokenizer_json() {
  json vocabulary = json::array();
  for (const auto& piece : unigram_pieces())
    vocabulary.push_back(json::array({piece.text, piece.score}));
  const json item{{"SpecialToken", {{"id", "</s>"}}}};
  const json file{
      {"added_tokens",
       {added("<pad>", 0, false), added("</s>", 1, false), added("<unk>", 2, false)}},
      {"normalizer",
       {{"type", "Sequence"},
        {"normalizers",
         {{{"type", "Strip"}, {"strip_left", false}, {"strip_right", true}},
          {{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", "\u2581"}}}}}},
      {"pre_tokenizer",
       {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "first"}}},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single", {{{"Sequence", {{"id", "A"}}}}, item}},
        {"special_tokens", {{"</s>", {{"ids", {1}}}}}}}},
      {"model", {{"type", "Unigram"}, {"unk_id", 2}, {"vocab", vocabulary}}}};
  return file.dump();
}

std::string byte_fallback_tokenizer_json() {
  json vocabulary = json::object();
  for (const auto* piece : {"<pad>", "<eos>", "<unk>", "c", "a", "t", "\u2581", "ca", "cat",
                            "\u2581cat", "<0xC3>", "<0xA9>"})
    vocabulary.emplace(piece, vocabulary.size());
  const json space{{"String", " "}};
  const json merges = json::array(
      {json::array({"c", "a"}), json::array({"ca", "t"}), json::array({"\u2581", "cat"})});
  const json file{{"normalizer", {{"type", "Replace"}, {"pattern", space}, {"content", "\u2581"}}},
                  {"pre_tokenizer",
                   {{"type", "Split"}, {"pattern", space}, {"behavior", "MergedWithPrevious"}}},
                  {"model",
                   {{"type", "BPE"},
                    {"unk_token", "<unk>"},
                    {"fuse_unk", true},
                    {"byte_fallback", true},
                    {"vocab", vocabulary},
                    {"merges", merges}}}};
  return file.dump();
}

std::string bert_vocabulary() {
  return "[PAD]\n[UNK]\n[CLS]\n[SEP]\ncat\nplay\n##ing\n##s\n,\ncafe\n";
}

std::string bert_tokenizer_json() {
  const json file{{"normalizer", {{"type", "BertNormalizer"}}},
                  {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                  {"model", bert_model()}};
  return file.dump();
}

std::string sentencepiece_model(int kind, const std::vector<SentencePiece>& pieces,
                                bool byte_fallback, bool dummy_prefix) {
  std::string bytes;
  for (const auto& piece : pieces)
    bytes += bytes_field(1, bytes_field(1, piece.text) + float_field(2, piece.score) +
                                number_field(3, static_cast<std::uint64_t>(piece.kind)));
  bytes += bytes_field(2, number_field(3, static_cast<std::uint64_t>(kind)) +
                              number_field(35, byte_fallback) + number_field(42, 1));
  bytes += bytes_field(3, number_field(3, dummy_prefix) + number_field(4, dummy_prefix));
  return bytes;
}

}  // namespace vit::text::test
