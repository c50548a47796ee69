/// The real vocabularies, which are not part of the repository: 200 texts through CLIP's tokenizer,
/// 100 through each of the others, as the original programs encode them.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/folder.h"
#include "tests/support/golden.h"
#include "tests/support/paths.h"
#include "vit/text/clip_vocabulary.h"
#include "vit/text/gzip.h"
#include "vit/text/sentencepiece_file.h"
#include "vit/text/tokenizer_json.h"
#include "vit/text/unicode.h"

namespace vit::text {
namespace {

namespace fs = std::filesystem;

const fs::path kGoldens = vit::test::shared() / "goldens" / "text";
const fs::path kTokenizers = kGoldens / "tokenizers";

class Reference : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(kTokenizers)) GTEST_SKIP() << "needs ../shared/goldens/text/tokenizers";
  }
};

using Ids = std::vector<TokenId>;

/// Every text of a list of {"text", "ids"} but those of which `other` holds other ids.
void expect_ids(const Tokenizer& tokenizer, const char* file, const char* other = nullptr) {
  const auto cases = test::read_json(kTokenizers / file);
  ASSERT_GE(cases.size(), 100u);
  for (const auto& entry : cases) {
    const bool differs = other != nullptr && entry.contains(other);
    EXPECT_EQ(encode(tokenizer, entry["text"].get<std::string>()),
              entry[differs ? other : "ids"].get<Ids>())
        << entry["text"];
  }
}

fs::path clip_vocabulary() {
  return kTokenizers / kClipVocabularyName;
}

TEST_F(Reference, OpenAiClipEncodes200TextsExactly) {
  expect_ids(read_clip_merges(clip_vocabulary(), 49408, ClipSpecials::kOpenAi), "clip_tokens.json");
}

TEST_F(Reference, OpenClipEncodes200TextsExactly) {
  expect_ids(read_clip_merges(clip_vocabulary(), 49408, ClipSpecials::kOpenClip),
             "clip_tokens.json", "open_clip_ids");
}

/// vocab.json and merges.txt of the whole vocabulary, as Hugging Face's folders hold them.
class ClipFiles {
 public:
  ClipFiles() {
    const std::string text = read_gzip(clip_vocabulary());
    std::string merges;
    nlohmann::json vocabulary = nlohmann::json::object();
    const auto add = [&](const std::string& piece) {
      vocabulary.emplace(piece, vocabulary.size());
    };
    for (const auto* end : {"", "</w>"})
      for (const char32_t c : byte_alphabet()) add(encode_utf8({&c, 1}) + end);
    size_t at = text.find('\n') + 1;
    for (size_t i = 0; i < 48894; ++i) {
      const size_t end = text.find('\n', at), space = text.find(' ', at);
      add(text.substr(at, space - at) + text.substr(space + 1, end - space - 1));
      merges += text.substr(at, end + 1 - at);
      at = end + 1;
    }
    add("<|startoftext|>");
    add("<|endoftext|>");
    folder.write("vocab.json", vocabulary.dump());
    folder.write("merges.txt", "#version: 0.2\n" + merges);
  }
  test::Folder folder;
};

TEST_F(Reference, HuggingFaceClipEncodes200TextsExactly) {
  const ClipFiles files;
  expect_ids(read_clip_vocabulary(files.folder.path("vocab.json"), files.folder.path("merges.txt")),
             "clip_tokens.json", "hf_ids");
}

TEST_F(Reference, Gpt2Encodes100TextsExactly) {
  expect_ids(read_gpt2_merges(kTokenizers / "gpt2_merges.txt.gz"), "gpt2_tokens.json");
}

TEST_F(Reference, BertEncodes100TextsExactly) {
  expect_ids(read_bert_vocabulary(kTokenizers / "bert_uncased_vocab.txt", true),
             "bert_tokens.json");
}

TEST_F(Reference, SentencePieceUnigramEncodes100TextsExactly) {
  const fs::path file = kGoldens / "hf_siglip" / "spiece.model";
  expect_ids(read_sentencepiece(read_text(file), file.string()),
             "sentencepiece_unigram_tokens.json");
}

TEST_F(Reference, SentencePieceBytePairsEncode100TextsExactly) {
  const fs::path file = kGoldens / "hf_siglip2" / "tokenizer.model";
  expect_ids(read_sentencepiece(read_text(file), file.string()), "sentencepiece_bpe_tokens.json");
}

/// What the library "tokenizers" gives. It replaces a cluster of up to five bytes by what its
/// shortest beginning stands for, accents included, and takes longer ones apart.
TEST_F(Reference, ATableOfATokenizerJsonWorksOnGraphemeClusters) {
  const Tokenizer tokenizer = read_tokenizer_json(kGoldens / "open_clip_siglip" / "tokenizer.json");
  EXPECT_EQ(encode(tokenizer, "a\u0300\u0301\u0302"), (Ids{4, 2}));
  EXPECT_EQ(encode(tokenizer, "\uFB01\u0301 \uFB01ne"), (Ids{385, 249, 176}));
  EXPECT_EQ(encode(tokenizer, "a\u0301 \uFF46\u0301ull"), (Ids{3, 2, 271, 544}));
  EXPECT_EQ(encode(tokenizer, "\u2460\u0301 \u00BD\u20DD"), (Ids{3, 896, 3, 896, 2, 583}));
}

/// A property of the Unicode tables for every code point, so that a newer library is noticed only
/// where characters were added since Unicode 14.
TEST_F(Reference, LettersNumbersAndSpacesAreThoseOfUnicode14) {
  const auto tables = test::read_json(kTokenizers / "unicode_tables.json");
  const auto expect = [&](const char* name, bool (*belongs)(char32_t)) {
    for (const auto& range : tables[name])
      for (auto c = range[0].get<std::uint32_t>(); c <= range[1].get<std::uint32_t>(); ++c)
        EXPECT_TRUE(belongs(c)) << name << " " << c;
  };
  expect("letters (\\p{L})", is_letter);
  expect("numbers (\\p{N})", is_number);
}

}  // namespace
}  // namespace vit::text
