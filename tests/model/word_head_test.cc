/// Labels in words as classifiers, against the original programs' probabilities.
#include "vit/model/word_head.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "tests/support/folder.h"
#include "tests/support/golden.h"
#include "tests/support/message_of.h"
#include "tests/support/text_cases.h"
#include "vit/base/thread_pool.h"
#include "vit/model/classifier.h"
#include "vit/text/clip_vocabulary.h"

namespace vit {
namespace {

namespace fs = std::filesystem;

const fs::path kClipVocabulary[] = {test::clip_vocabulary()};

std::vector<float> probabilities_of(const WordHead& head, std::span<const float> logits) {
  std::vector<float> result;
  double sum = 0.0;
  for (const float x : logits) sum += std::exp(double{x});
  for (const float x : logits)
    result.push_back(static_cast<float>(head.sigmoid ? 1.0 / (1.0 + std::exp(-double{x}))
                                                     : std::exp(double{x}) / sum));
  return result;
}

void expect_near(std::span<const float> got, std::span<const float> expected, float tolerance,
                 const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], tolerance) << what;
}

class WordGolden : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!fs::exists(folder_)) GTEST_SKIP() << "needs ../shared/goldens/text";
    golden_ = test::read_golden(folder_ / "expected.safetensors");
    prompts_ = test::read_json(folder_ / "prompts.json");
    checkpoint_ = weights::open_text(test::text_model(GetParam()));
    const auto templates = prompts_["templates"].get<std::vector<std::string>>();
    std::string lines;
    for (const auto& label : prompts_["labels"]) lines += label.get<std::string>() + "\n";
    labels_ = text::parse_label_lines(lines, templates, "labels");
  }
  std::span<const float> row(const std::string& name, size_t index) const {
    const test::GoldenTensor& tensor = golden_.at(name);
    return std::span(tensor.values).subspan(index * tensor.shape.back(), tensor.shape.back());
  }

  fs::path folder_ = test::text_case(GetParam());
  std::map<std::string, test::GoldenTensor> golden_;
  nlohmann::json prompts_;
  weights::TextCheckpoint checkpoint_;
  std::vector<text::WordLabel> labels_;
};

TEST_P(WordGolden, RowsAndProbabilitiesAgree) {
  ThreadPool threads(2);
  const WordHead head = make_word_head(checkpoint_, labels_,
                                       {.pool = &threads, .clip_vocabularies = kClipVocabulary});
  EXPECT_EQ(head.labels, prompts_["labels"].get<std::vector<std::string>>());
  EXPECT_TRUE(head.truncated.empty());
  for (size_t i = 0; i < labels_.size(); ++i)
    expect_near(head.rows.view().row_span(i), row("classifier", i), 1e-5f, labels_[i].name);

  // The rows alone, whatever pixels the image tower is given: the reference's own image features.
  const size_t images = golden_.at("image.features").shape[0];
  const WordClassifier classifier = word_classifier(head, active_isa());
  for (size_t i = 0; i < images; ++i) {
    const auto logits = word_logits(classifier, row("image.features", i));
    expect_near(probabilities_of(head, logits), row("class_probabilities", i), 1e-5f,
                "image " + std::to_string(i));
  }
}

TEST_P(WordGolden, ImagesOfFilesGetTheReferencesProbabilities) {
  const WordHead head =
      make_word_head(checkpoint_, labels_, {.clip_vocabularies = kClipVocabulary});
  const WordClassifier classifier = word_classifier(head, active_isa());
  const Classifier tower = Classifier::load(test::text_model(GetParam()), {.threads = 1});
  for (size_t i = 0; i < prompts_["images"].size(); ++i) {
    const Image image = read_image(folder_ / prompts_["images"][i].get<std::string>());
    const auto logits = word_logits(classifier, tower.logits({&image, 1}).front());
    expect_near(probabilities_of(head, logits), row("class_probabilities", i), 1e-5f,
                "image " + std::to_string(i));
  }
}

TEST_P(WordGolden, RowsComeFromTheCacheTheNextTime) {
  const test::Folder cache;
  size_t computed = 0;
  const WordHeadOptions options{.clip_vocabularies = kClipVocabulary,
                                .cache = cache.path("heads"),
                                .progress = [&](size_t, size_t) { ++computed; }};
  const WordHead first = make_word_head(checkpoint_, labels_, options);
  const size_t work = computed;
  EXPECT_GT(work, 0u);
  const auto expect_equal = [&](const WordHead& head) {
    for (size_t r = 0; r < labels_.size(); ++r)
      for (size_t c = 0; c < head.rows.cols(); ++c)
        ASSERT_EQ(head.rows.view()(r, c), first.rows.view()(r, c));
  };
  expect_equal(make_word_head(checkpoint_, labels_, options));
  EXPECT_EQ(computed, work);

  labels_.front().prompts.front() += " again";
  make_word_head(checkpoint_, labels_, options);
  EXPECT_GT(computed, work) << "other words need other rows";

  labels_.front().prompts.front().resize(labels_.front().prompts.front().size() - 6);
  for (const auto& entry : fs::directory_iterator(cache.path("heads"))) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file.put('x');
  }
  computed = 0;
  expect_equal(make_word_head(checkpoint_, labels_, options));
  EXPECT_EQ(computed, work) << "a damaged file must not be used";
}

TEST_P(WordGolden, PromptsThatAreTooLongAreNamed) {
  std::string lengthy;
  for (int i = 0; i < 100; ++i) lengthy += "dog ";
  labels_.push_back({"long", {"a dog", lengthy}});
  const test::Folder cache;
  for (int run = 0; run < 2; ++run) {
    const WordHead head = make_word_head(
        checkpoint_, labels_, {.clip_vocabularies = kClipVocabulary, .cache = cache.path("heads")});
    EXPECT_EQ(head.truncated, std::vector<std::string>{lengthy}) << "run " << run;
  }
}

std::string name_of(const testing::TestParamInfo<const char*>& info) {
  return info.param;
}

INSTANTIATE_TEST_SUITE_P(Cases, WordGolden, testing::ValuesIn(test::kTextCases), name_of);

TEST(WordHead, NeedsAVocabulary) {
  const fs::path folder = test::text_case("open_clip_vit");
  if (!fs::exists(folder)) GTEST_SKIP() << "needs ../shared/goldens/text";
  const auto checkpoint = weights::open_text(folder);
  const std::vector<text::WordLabel> labels{{"cat", {"a cat"}}};
  EXPECT_EQ(test::message_of([&] { make_word_head(checkpoint, labels); }),
            folder.string() + ": no vocabulary beside the weights; expected " +
                std::string(text::kClipVocabularyName) +
                " (OpenAI's CLIP vocabulary), tokenizer.json, or vocab.json with merges.txt");
}

}  // namespace
}  // namespace vit
