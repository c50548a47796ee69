#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/folder.h"
#include "tests/support/message_of.h"
#include "tests/text/small_files.h"
#include "vit/base/error.h"
#include "vit/text/clip_vocabulary.h"
#include "vit/text/sentencepiece_file.h"
#include "vit/text/tokenizer_json.h"

namespace vit::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using vit::test::message_of;

constexpr TokenId kCat = 513, kDog = 515, kStart = 516, kEnd = 517;

/// The message of the Error that `action` throws.
Tokenizer parse(const std::string& json) {
  return parse_tokenizer_json(nlohmann::json::parse(json), "tokenizer.json");
}

class ClipTokenizer : public testing::Test {
 protected:
  Tokenizer load(ClipSpecials specials = ClipSpecials::kOpenAi) const {
    return read_clip_merges(path_, test::kClipSize, specials);
  }
  vit::test::Folder folder_;
  std::string path_ = folder_.write("bpe.txt.gz", test::gzip(test::clip_merges()));
};

TEST_F(ClipTokenizer, MergesThePairOfLowestRankFirst) {
  EXPECT_THAT(encode(load(), "a CAT &amp; dog"), ElementsAre(320, kCat, 261, kDog));
}

TEST_F(ClipTokenizer, KeepsTheEndTokenOfTextsThatAreTooLong) {
  const TokenSequence cut = encode(load(), "cat dog cat dog", 4);
  EXPECT_THAT(cut.ids, ElementsAre(kStart, kCat, kDog, kEnd));
  EXPECT_TRUE(cut.truncated);
  EXPECT_EQ(cut.used, 4u);
}

TEST_F(ClipTokenizer, PadsWithZeros) {
  const TokenSequence padded = encode(load(), "dog", 5);
  EXPECT_THAT(padded.ids, ElementsAre(kStart, kDog, kEnd, 0, 0));
  EXPECT_FALSE(padded.truncated);
  EXPECT_EQ(padded.used, 3u);
  EXPECT_THAT(encode(load(), "", 3).ids, ElementsAre(kStart, kEnd, 0));
}

TEST_F(ClipTokenizer, RecognisesItsOwnSpellingOfSpecialTokensAlone) {
  EXPECT_THAT(encode(load(), "<|startoftext|>"), ElementsAre(kStart));
  EXPECT_THAT(encode(load(ClipSpecials::kOpenClip), "<end_of_text>"), ElementsAre(kEnd));
  EXPECT_GT(encode(load(ClipSpecials::kOpenClip), "<|startoftext|>").size(), 1u);
}

TEST_F(ClipTokenizer, NamesTheByteThatIsNotUtf8) {
  EXPECT_EQ(message_of([&] { encode(load(), "caf\xE9"); }),
            "the text: byte 3 is not valid UTF-8; save the text as UTF-8");
}

TEST_F(ClipTokenizer, SaysHowManyMergesAreMissing) {
  EXPECT_EQ(message_of([&] { read_clip_merges(path_, 600, ClipSpecials::kOpenAi); }),
            path_ + ": holds 4 merges, expected 86 for the model's 600 tokens");
}

TEST_F(ClipTokenizer, RefusesDamagedAndMissingFiles) {
  const std::string cut = folder_.write("cut.gz", test::gzip(test::clip_merges()).substr(0, 20));
  EXPECT_EQ(message_of([&] { read_clip_merges(cut, test::kClipSize, ClipSpecials::kOpenAi); }),
            cut + ": is not a whole gzip file");
  const std::string odd = folder_.write("odd.gz", test::gzip("#version\nc a\nalone\n"));
  EXPECT_EQ(message_of([&] { read_clip_merges(odd, test::kClipSize, ClipSpecials::kOpenAi); }),
            odd + ": line 3 is not a pair of pieces");
  EXPECT_THAT(message_of([&] {
                read_clip_merges(folder_.path("none.gz"), test::kClipSize, ClipSpecials::kOpenAi);
              }),
              HasSubstr("none.gz"));
}

TEST_F(ClipTokenizer, ReadsHuggingFacesFilesAlike) {
  const std::string vocabulary = folder_.write("vocab.json", test::clip_vocab_json());
  const std::string merges = folder_.write("merges.txt", test::clip_merges_txt());
  const Tokenizer two_files = read_clip_vocabulary(vocabulary, merges);
  const Tokenizer one_file = parse(test::clip_tokenizer_json());
  for (const auto* text : {"a CAT", "dogs  &amp; cats", "<|endoftext|>x", "it's 10"}) {
    EXPECT_EQ(encode(two_files, text, 20).ids, [&] {
      auto ids = encode(one_file, text, 20).ids;
      for (size_t i = 0, end = 0; i < ids.size(); end += ids[i++] == kEnd)
        if (end > 0 && ids[i] == 0) ids[i] = kEnd;  // the pad token is not in tokenizer.json
      return ids;
    }()) << text;
  }
}

TEST(JsonTokenizer, UnigramTakesTheSegmentationOfTheHighestScore) {
  const Tokenizer tokenizer = parse(test::unigram_tokenizer_json());
  EXPECT_THAT(encode(tokenizer, "a photo  cat "), ElementsAre(3, 10, 4));
  EXPECT_THAT(encode(tokenizer, "xyat"), ElementsAre(5, 2, 9));  // unknown neighbours are one token
  EXPECT_THAT(encode(tokenizer, "a", 4).ids, ElementsAre(3, 1, 0, 0));
}

TEST(JsonTokenizer, BytePairsFallBackToBytesOrToTheUnknownToken) {
  const Tokenizer tokenizer = parse(test::byte_fallback_tokenizer_json());
  EXPECT_THAT(encode(tokenizer, "cat cat"), ElementsAre(8, 9));
  EXPECT_THAT(encode(tokenizer, "\u00E9\u00DFz"), ElementsAre(10, 11, 2));
}

TEST(JsonTokenizer, WordPieceTakesTheLongestPieceFirst) {
  const Tokenizer tokenizer = parse(test::bert_tokenizer_json());
  EXPECT_THAT(encode(tokenizer, "Cats,\tplaying Caf\u00E9 dog"), ElementsAre(4, 7, 8, 5, 6, 9, 1));
}

TEST(JsonTokenizer, BertDropsControlsThatAreSpaceToo) {
  const Tokenizer tokenizer = parse(test::bert_tokenizer_json());
  EXPECT_EQ(encode(tokenizer, "ca\u0085ts\x0B"), encode(tokenizer, "cats"));
  EXPECT_NE(encode(tokenizer, "ca\nts"), encode(tokenizer, "cats"));
}

TEST(JsonTokenizer, BertsVocabularyFileGivesTheSameIds) {
  const vit::test::Folder folder;
  const Tokenizer tokenizer =
      read_bert_vocabulary(folder.write("vocab.txt", test::bert_vocabulary()), true);
  EXPECT_THAT(encode(tokenizer, "Cats, playing", 9).ids, ElementsAre(2, 4, 7, 8, 5, 6, 3, 0, 0));
}

TEST(JsonTokenizer, NamesTheStepItDoesNotKnow) {
  const auto with = [](const char* part, const nlohmann::json& step) {
    auto file = nlohmann::json::parse(test::clip_tokenizer_json());
    file[part] = step;
    return message_of([&] { parse_tokenizer_json(file, "t.json"); });
  };
  EXPECT_THAT(with("normalizer", {{"type", "Nmt"}}),
              HasSubstr("t.json: normalizer: the normalizer 'Nmt' is not one this toolkit knows: "
                        "Sequence, NFC, "));
  EXPECT_THAT(with("pre_tokenizer", {{"type", "Digits"}}),
              HasSubstr("the pre_tokenizer 'Digits' is not one this toolkit knows"));
  EXPECT_THAT(with("post_processor", {{"type", "Other"}}),
              HasSubstr("the post_processor 'Other' is not one this toolkit knows"));
  EXPECT_THAT(with("model", {{"type", "WordLevel"}}),
              HasSubstr("the model 'WordLevel' is not one this toolkit knows: BPE, Unigram"));
  EXPECT_THAT(
      with("normalizer", {{"type", "Replace"}, {"pattern", {{"Regex", "a+"}}}, {"content", "b"}}),
      HasSubstr("the regular expression 'a+' is not one this toolkit knows"));
}

TEST(JsonTokenizer, DoesNotLetATextGrowWithoutEnd) {
  const auto message = [](const std::string& step, int times) {
    std::string steps = step;
    for (int i = 1; i < times; ++i) steps += "," + step;
    const Tokenizer tokenizer =
        parse(R"({"normalizer":{"type":"Sequence","normalizers":[)" + steps +
              R"(]},"model":{"type":"BPE","vocab":{"a":0},)" + R"("merges":[],"unk_token":"a"}})");
    return message_of([&] { encode(tokenizer, "a  a"); });
  };
  const std::string doubled = R"({"type":"Replace","pattern":{"String":"a"},"content":"aa"})";
  EXPECT_EQ(message(doubled, 4), "no error");
  EXPECT_EQ(message(doubled, 40),
            "tokenizer.json: normalizer: normalizers 18: makes more than 1000000 characters of a "
            "text; the file is damaged or malicious");
  EXPECT_THAT(message(R"({"type":"Prepend","prepend":")" + std::string(600'000, 'a') + "\"}", 2),
              HasSubstr("normalizers 1: makes more than 1000000 characters of a text"));
  EXPECT_THAT(message(R"({"type":"Replace","pattern":{"Regex":" {2,}"},"content":")" +
                          std::string(2'000'000, ' ') + "\"}",
                      1),
              HasSubstr("normalizers 0: makes more than 1000000 characters of a text"));
}

TEST(JsonTokenizer, NamesTheMergeWhosePieceTheVocabularyLacks) {
  auto file = nlohmann::json::parse(test::clip_tokenizer_json());
  file["model"]["merges"].push_back("zz a");
  EXPECT_EQ(
      message_of([&] { parse_tokenizer_json(file, "t.json"); }),
      "t.json: model: merge 5 ('zz' and 'a') needs the piece 'zz', which the vocabulary lacks");
  EXPECT_EQ(message_of([] { parse_tokenizer_json(nlohmann::json::object(), "t.json"); }),
            "t.json: has no model");
}

TEST(SentencePiece, UnigramAgreesWithTokenizerJson) {
  const Tokenizer tokenizer =
      read_sentencepiece(test::sentencepiece_model(1, test::unigram_pieces()), "spiece.model");
  EXPECT_THAT(encode(tokenizer, "  a photo  cat "), ElementsAre(3, 10, 4));
  EXPECT_THAT(encode(tokenizer, "xyat", 5).ids, ElementsAre(5, 2, 9, 1, 0));
}

TEST(SentencePiece, BytePairsMergeThePieceOfTheHighestScore) {
  const Tokenizer tokenizer = read_sentencepiece(test::sentencepiece_model(2,
                                                                           {{"<pad>", 0, 3},
                                                                            {"<eos>", 0, 3},
                                                                            {"<unk>", 0, 2},
                                                                            {"ab", -1.0f},
                                                                            {"bc", 0.0f},
                                                                            {"a", -5.0f},
                                                                            {"b", -6.0f},
                                                                            {"c", -7.0f},
                                                                            {"\u2581", -8.0f},
                                                                            {"<0xC3>", 0, 6},
                                                                            {"<0xA9>", 0, 6}},
                                                                           true, false),
                                                 "tokenizer.model");
  EXPECT_THAT(encode(tokenizer, "abc ab"), ElementsAre(5, 4, 8, 3));
  EXPECT_THAT(encode(tokenizer, "\u00E9"), ElementsAre(9, 10));
}

TEST(SentencePiece, SaysWhatIsWrongWithAFile) {
  const std::string good = test::sentencepiece_model(1, test::unigram_pieces());
  const auto error = [](const std::string& bytes) {
    return message_of([&] { read_sentencepiece(bytes, "s.model"); });
  };
  EXPECT_EQ(error(""), "s.model: is not a SentencePiece model: it holds no pieces");
  EXPECT_THAT(error(good.substr(0, 30)), HasSubstr("s.model: cut short: a field of "));
  EXPECT_THAT(error("\x0F rubbish"),
              HasSubstr("is not a SentencePiece model: field of unknown kind"));
  EXPECT_THAT(error(test::sentencepiece_model(4, test::unigram_pieces())),
              HasSubstr("SentencePiece model of kind 4, expected 1 (unigram) or 2 (byte pairs)"));
}

}  // namespace
}  // namespace vit::text
