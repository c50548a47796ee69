#include "vit/text/load.h"

#include "vit/base/error.h"
#include "vit/base/missing_download.h"
#include "vit/text/clip_vocabulary.h"
#include "vit/text/gzip.h"
#include "vit/text/sentencepiece_file.h"
#include "vit/text/tokenizer_json.h"

namespace vit::text {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::optional<Tokenizer> clip_files_of(const fs::path& folder) {
  if (is_file(folder / "tokenizer.json")) return read_tokenizer_json(folder / "tokenizer.json");
  if (is_file(folder / "vocab.json") && is_file(folder / "merges.txt"))
    return read_clip_vocabulary(folder / "vocab.json", folder / "merges.txt");
  return {};
}

Tokenizer load_clip(const weights::TextCheckpoint& text, std::span<const fs::path> vocabularies) {
  const bool openai = text.config.tokenizer == TokenizerKind::kOpenAiClip;
  const ClipSpecials specials = openai ? ClipSpecials::kOpenAi : ClipSpecials::kOpenClip;
  const fs::path beside = text.folder / kClipVocabularyName;
  if (is_file(beside)) return read_clip_merges(beside, text.config.vocabulary, specials);
  if (auto files = clip_files_of(text.folder)) return as_open_clip(std::move(*files), specials);
  for (const fs::path& path : vocabularies)
    if (is_file(path)) return read_clip_merges(path, text.config.vocabulary, specials);
  throw MissingDownload({.kind = Download::Kind::kClipVocabulary}, text.folder.string(),
                        "no vocabulary beside the weights; expected " +
                            std::string(kClipVocabularyName) + " (OpenAI's CLIP vocabulary",
                        "), tokenizer.json, or vocab.json with merges.txt");
}

Tokenizer read_sentencepiece_file(const fs::path& path) {
  return read_sentencepiece(read_text(path), path.string());
}

/// SigLIP's own tokenizer reads the SentencePiece model, whatever else lies there.
Tokenizer load_files(const weights::TextCheckpoint& text) {
  const fs::path& folder = text.folder;
  const bool siglip = text.config.cleaning == TextCleaning::kCanonical;
  if (siglip && is_file(folder / "spiece.model"))
    return read_sentencepiece_file(folder / "spiece.model");
  if (auto files = clip_files_of(folder)) return std::move(*files);
  for (const auto* name : {"spiece.model", "tokenizer.model"})
    if (is_file(folder / name)) return read_sentencepiece_file(folder / name);
  if (is_file(folder / "vocab.txt")) return read_bert_vocabulary(folder / "vocab.txt", true);
  fail_at(folder.string(),
          "no tokenizer beside the weights; expected tokenizer.json, vocab.json "
          "with merges.txt, spiece.model, tokenizer.model or vocab.txt");
}

/// "pad_token": "</s>", or {"content": "</s>", …}.
std::optional<std::string> token_named(const fs::path& folder, std::string_view name) {
  for (const auto* file : {"tokenizer_config.json", "special_tokens_map.json"}) {
    if (!is_file(folder / file)) continue;
    const nlohmann::json content = weights::read_json(folder / file);
    const weights::Fields fields(content, (folder / file).string());
    const nlohmann::json* value = fields.find(name);
    if (value == nullptr) continue;
    if (value->is_string()) return value->get<std::string>();
    if (const auto object = fields.object(name)) return object->text("content");
  }
  return {};
}

void set_padding(const fs::path& folder, Tokenizer& tokenizer) {
  const auto token = token_named(folder, "pad_token");
  if (!token) return;
  const auto id = id_of(tokenizer, *token);
  if (!id) fail_at(folder.string(), "the pad token '", *token, "' is not in the vocabulary");
  tokenizer.padding = *id;
}

void check_ids(const weights::TextCheckpoint& text, const Tokenizer& tokenizer) {
  if (tokenizer.size > text.config.vocabulary)
    fail_at(text.folder.string(), "the tokenizer has ", tokenizer.size,
            " ids, but the text tower only ", text.config.vocabulary);
  for (const auto* frame : {&tokenizer.before, &tokenizer.after})
    for (const TokenId id : *frame)
      if (id >= text.config.vocabulary)
        fail_at(text.folder.string(), "the tokenizer's start or end id ", id,
                " is beyond the text tower's ", text.config.vocabulary, " tokens");
}

}  // namespace

Tokenizer load_tokenizer(const weights::TextCheckpoint& text,
                         std::span<const fs::path> clip_vocabularies) {
  const bool files = text.config.tokenizer == TokenizerKind::kFiles;
  Tokenizer tokenizer = files ? load_files(text) : load_clip(text, clip_vocabularies);
  if (files) {
    set_padding(text.folder, tokenizer);
    tokenizer.cleaning = text.config.cleaning;
  }
  check_ids(text, tokenizer);
  return tokenizer;
}

}  // namespace vit::text
