/// Two-tower models of every family against the original programs, stage by stage.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/golden.h"
#include "tests/support/near.h"
#include "tests/support/text_cases.h"
#include "vit/model/classifier.h"
#include "vit/model/load_text.h"
#include "vit/text/clip_vocabulary.h"
#include "vit/text/load.h"

namespace vit {
namespace {

namespace fs = std::filesystem;
using Golden = std::map<std::string, test::GoldenTensor>;

const fs::path kClipVocabulary[] = {test::clip_vocabulary()};

/// Within 1e-5 of the largest value: float32 arithmetic stays near 1e-6.
void expect_near(std::span<const float> got, std::span<const float> expected,
                 const std::string& what) {
  test::expect_near(got, expected, 1e-5, what);
}

class TextGolden : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!fs::exists(folder_)) GTEST_SKIP() << "needs ../shared/goldens/text";
    golden_ = test::read_golden(folder_ / "expected.safetensors");
    prompts_ = test::read_json(folder_ / "prompts.json");
    model_ = test::text_model(GetParam());
    checkpoint_ = weights::open_text(model_);
    tokenizer_.emplace(text::load_tokenizer(checkpoint_, kClipVocabulary));
    tower_ = load_text_tower(checkpoint_);
    for (const auto& prompt : prompts_["prompts"])
      texts_.push_back(
          text::encode(*tokenizer_, prompt.get<std::string>(), checkpoint_.config.context));
  }

  std::span<const float> row(const std::string& name, size_t index) const {
    const test::GoldenTensor& tensor = golden_.at(name);
    const size_t width = tensor.shape.back();
    return std::span(tensor.values).subspan(index * width, width);
  }

  fs::path folder_ = test::text_case(GetParam());
  fs::path model_;
  Golden golden_;
  nlohmann::json prompts_;
  weights::TextCheckpoint checkpoint_;
  std::optional<text::Tokenizer> tokenizer_;
  text::TextTower tower_;
  std::vector<text::TokenSequence> texts_;
};

TEST_P(TextGolden, TokenIdsAreExact) {
  for (size_t i = 0; i < texts_.size(); ++i) {
    const auto expected = row("token_ids", i);
    const std::vector<text::TokenId> ids(expected.begin(), expected.end());
    EXPECT_EQ(texts_[i].ids, ids) << prompts_["prompts"][i];
  }
}

TEST_P(TextGolden, EveryStageAgrees) {
  text::TextWorkspace workspace;
  std::vector<float> feature(checkpoint_.config.features);
  for (const auto& prompt : prompts_["stage_prompts"]) {
    const auto index = prompt.get<size_t>();
    const std::string suffix = "." + std::to_string(index);
    text::TextTaps taps;
    taps.tokens = [&](ConstMatrixView tokens) {
      expect_near(test::numbers_of(tokens), golden_.at("text.tokens" + suffix).values, "tokens");
    };
    taps.encoder.block = [&](size_t layer, ConstMatrixView tokens) {
      const std::string name = "text.block." + std::to_string(layer) + suffix;
      expect_near(test::numbers_of(tokens), golden_.at(name).values, name);
    };
    taps.pooled = [&](ConstMatrixView pooled) {
      expect_near(test::numbers_of(pooled), row("text.pooled", index), "pooled");
    };
    text::encode_text(tower_, texts_[index], workspace, feature, &taps);
    expect_near(feature, row("text.features", index), "feature");
  }
}

TEST_P(TextGolden, FeaturesAgreeOneByOneAndAsABatch) {
  text::TextWorkspace workspace;
  std::vector<float> feature(checkpoint_.config.features);
  ThreadPool threads(2);
  size_t done = 0;
  std::mutex mutex;
  const auto count = [&](size_t all) {
    const std::lock_guard lock(mutex);
    done = std::max(done, all);
  };
  const Matrix batch =
      text::encode_texts(tower_, {.texts = texts_, .pool = &threads, .progress = count});
  EXPECT_EQ(done, texts_.size());
  for (size_t i = 0; i < texts_.size(); ++i) {
    text::encode_text(tower_, texts_[i], workspace, feature);
    expect_near(feature, row("text.features", i), prompts_["prompts"][i]);
    expect_near(batch.view().row_span(i), row("text.features", i), prompts_["prompts"][i]);
  }
}

TEST_P(TextGolden, ScaleAndBiasAreTheFiles) {
  EXPECT_NEAR(checkpoint_.scale, row("logit_scale", 0)[0], 1e-5f * checkpoint_.scale);
  EXPECT_EQ(checkpoint_.sigmoid, prompts_["activation"] == "sigmoid");
  if (checkpoint_.sigmoid) {
    EXPECT_NEAR(checkpoint_.bias, row("logit_bias", 0)[0], 1e-5f);
  }
}

TEST_P(TextGolden, ImageFeaturesAgree) {
  const Classifier classifier = Classifier::load(model_, {.threads = 1});
  std::vector<Image> images;
  for (const auto& name : prompts_["images"])
    images.push_back(read_image(folder_ / name.get<std::string>()));
  const auto features = classifier.logits(images);
  for (size_t i = 0; i < images.size(); ++i)
    expect_near(features[i], row("image.features", i), "image " + std::to_string(i));
}

std::string name_of(const testing::TestParamInfo<const char*>& info) {
  return info.param;
}

INSTANTIATE_TEST_SUITE_P(Cases, TextGolden, testing::ValuesIn(test::kTextCases), name_of);

}  // namespace
}  // namespace vit
