#include "vit/model/classifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <random>
#include <thread>

#include "tests/support/folder.h"
#include "tests/support/paths.h"
#include "vit/base/error.h"
#include "weights/known/catalogue.h"
#include "weights/store.h"

namespace vit {
namespace {

namespace fs = std::filesystem;

fs::path golden(const std::string& name) {
  return test::goldens() / name;
}

Image noise(size_t width, size_t height, unsigned seed) {
  std::mt19937 engine(seed);
  Image image{width, height, std::vector<std::uint8_t>(width * height * 3)};
  for (auto& value : image.pixels) value = static_cast<std::uint8_t>(engine());
  return image;
}

std::vector<Image> noises(size_t count) {
  std::vector<Image> images;
  for (unsigned i = 0; i < count; ++i) images.push_back(noise(50 + 7 * i, 90 - 3 * i, i));
  return images;
}

TEST(Classifier, GivesTheSameBitsForEveryBatchAndThreadCount) {
  const std::vector<Image> images = noises(7);
  const Classifier alone = Classifier::load(golden("timm_vit"), {.threads = 1});
  std::vector<std::vector<float>> single;
  for (const Image& image : images) single.push_back(alone.logits({&image, 1}).front());
  for (const size_t threads : {1, 2, 3, 8}) {
    const Classifier classifier = Classifier::load(golden("timm_vit"), {.threads = threads});
    EXPECT_EQ(classifier.logits(images), single) << threads << " threads, one batch";
    for (size_t i = 0; i < images.size(); ++i)
      EXPECT_EQ(classifier.logits({&images[i], 1}).front(), single[i]) << threads << " threads";
  }
}

TEST(Classifier, AShuffledBatchGivesShuffledAnswers) {
  const std::vector<Image> images = noises(9);
  const Classifier classifier = Classifier::load(golden("timm_dinov2"), {.threads = 2});
  const auto straight = classifier.logits(images);
  std::vector<size_t> order(images.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(5));
  std::vector<Image> shuffled;
  for (const size_t i : order) shuffled.push_back(images[i]);
  const auto answers = classifier.logits(shuffled);
  for (size_t i = 0; i < order.size(); ++i) EXPECT_EQ(answers[i], straight[order[i]]);
}

TEST(Classifier, IsSharedByThreadsWithoutLocksOfTheirOwn) {
  const std::vector<Image> images = noises(4);
  const Classifier classifier = Classifier::load(golden("timm_vit"), {.threads = 2});
  const auto expected = classifier.logits(images);
  std::vector<std::thread> callers;
  std::vector<int> wrong(4, 0);
  for (size_t t = 0; t < 4; ++t)
    callers.emplace_back([&, t] {
      for (size_t round = 0; round < 10; ++round) {
        const size_t i = (t + round) % images.size();
        wrong[t] += classifier.logits({&images[i], 1}).front() != expected[i];
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_THAT(wrong, ::testing::Each(0));
}

TEST(Classifier, AnEmptyBatchHasNoAnswers) {
  const Classifier classifier = Classifier::load(golden("timm_vit"), {.threads = 1});
  EXPECT_TRUE(classifier.logits({}).empty());
}

TEST(Classifier, RanksByProbabilityThenByIndexAndNamesTheClasses) {
  const Classifier classifier = Classifier::load(golden("hf_vit"), {.threads = 1});
  const std::vector<float> p{0.1f, 0.3f, 0.0f, 0.3f, 0.0f, 0.1f, 0.1f, 0.1f, 0.0f, 0.0f};
  const auto best = classifier.top(p, 3);
  ASSERT_EQ(best.size(), 3u);
  EXPECT_EQ(best[0].index, 1u);
  EXPECT_EQ(best[0].label, "goldfish");
  EXPECT_EQ(best[1].index, 3u);
  EXPECT_EQ(best[2].index, 0u);
  EXPECT_EQ(classifier.top(p, 99).size(), 10u);
}

TEST(Classifier, TemperatureFlattensTheProbabilities) {
  const std::vector<float> logits{1.0f, 2.0f, 4.0f, 0, 0, 0, 0, 0, 0, 0};
  const auto at = [&](float temperature) {
    return Classifier::load(golden("timm_vit"), {.threads = 1, .temperature = temperature})
        .probabilities(logits);
  };
  EXPECT_NEAR(at(1.0f)[2] / at(1.0f)[1], std::exp(2.0), 1e-5);
  EXPECT_NEAR(at(2.0f)[2] / at(2.0f)[1], std::exp(1.0), 1e-5);
  EXPECT_THROW(at(0.0f), Error);
  EXPECT_THROW(at(-1.0f), Error);
}

TEST(Classifier, RunsAtOtherResolutionsSquareOrNot) {
  const Image image = noise(300, 200, 1);
  for (const auto& [height, width] : {std::pair<size_t, size_t>{32, 32}, {96, 160}, {16, 48}}) {
    const Classifier classifier = Classifier::load(
        golden("timm_vit"), {.threads = 1, .image_height = height, .image_width = width});
    EXPECT_EQ(classifier.config().embedding.grid(), (GridSize{height / 16, width / 16}));
    const auto logits = classifier.logits({&image, 1}).front();
    EXPECT_TRUE(
        std::all_of(logits.begin(), logits.end(), [](float x) { return std::isfinite(x); }));
  }
}

TEST(Classifier, RefusesAResolutionThatIsNoMultipleOfThePatch) {
  try {
    Classifier::load(golden("timm_vit"), {.threads = 1, .image_height = 17, .image_width = 64});
    FAIL() << "accepted 17 rows";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("17"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("16"));
  }
}

TEST(Classifier, MergesTokensInEveryModelOfPreNormBlocks) {
  const Image image = noise(100, 100, 1);
  for (const char* name : {"timm_vit", "timm_deit_distilled", "timm_gap_registers",
                           "timm_siglip_map", "hf_dinov2", "timm_dinov2_swiglu"}) {
    const auto full = Classifier::load(golden(name), {.threads = 1}).logits({&image, 1}).front();
    const auto alone = Classifier::load(golden(name), {.threads = 1, .merge_tokens = 2});
    const auto shared = Classifier::load(golden(name), {.threads = 3, .merge_tokens = 2});
    const auto merged = alone.logits({&image, 1}).front();
    EXPECT_EQ(merged, shared.logits({&image, 1}).front()) << name;
    EXPECT_EQ(merged, alone.logits({&image, 1}).front()) << name << ", a second time";
    EXPECT_NE(merged, full) << name;
    for (const float logit : merged) EXPECT_TRUE(std::isfinite(logit)) << name;
  }
}

TEST(Classifier, SurvivesExtremeImages) {
  const Classifier classifier = Classifier::load(golden("timm_vit"), {.threads = 2});
  const std::vector<Image> images{noise(1, 1, 1), noise(30000, 10, 2), noise(10, 30000, 3)};
  for (const auto& logits : classifier.logits(images))
    EXPECT_TRUE(
        std::all_of(logits.begin(), logits.end(), [](float x) { return std::isfinite(x); }));
}

TEST(Classifier, SaysThatAModelWithoutClassifierCannotClassify) {
  const Classifier classifier = Classifier::load(golden("timm_dinov2_registers"), {.threads = 1});
  try {
    classifier.classify(noise(70, 70, 1));
    FAIL() << "classified without a classifier";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "vit_small_patch14_reg4_dinov2: this model has no classifier, its output is "
                 "features; use logits() for them");
  }
}

TEST(Classifier, SaysWhereItWasLoadedFrom) {
  EXPECT_EQ(Classifier::load(golden("hf_vit"), {.threads = 1}).path(), golden("hf_vit"));
}

TEST(Classifier, RefusesAModelOfMoreTokensThanAllowed) {
  ClassifierOptions options{.threads = 1, .image_height = 64, .image_width = 64};
  options.most_tokens = 17;
  EXPECT_EQ(Classifier::load(golden("timm_vit"), options).config().embedding.tokens(), 17u);
  options.most_tokens = 16;
  EXPECT_THROW(Classifier::load(golden("timm_vit"), options), TooManyTokens);
}

std::string load_error(const fs::path& model) {
  try {
    Classifier::load(model, {.threads = 1});
  } catch (const Error& error) {
    const std::string place = model.string() + ": ";
    EXPECT_THAT(error.what(), ::testing::StartsWith(place));
    return std::string(error.what()).substr(place.size());
  }
  return "no error";
}

TEST(Classifier, LoadsADownloadedModelByNameAndSaysHowToGetOthers) {
  const test::Folder home;
  ASSERT_EQ(setenv("VIT_HOME", home.path("").c_str(), 1), 0);
  const std::string name = "deit_tiny_patch16_224";
  EXPECT_EQ(load_error(name), "is not pulled yet");

  const std::string hub = weights::find_in_catalogue(name).front().hub;
  const fs::path folder = weights::model_folder(hub);
  fs::create_directories(folder.parent_path());
  fs::copy(golden("hf_vit"), folder);
  weights::write_pulled(folder, {.hub = hub,
                                 .revision = "main",
                                 .commit = "",
                                 .files = {{"config.json", {.size = 1, .etag = ""}}}});
  const Image image = noise(60, 60, 1);
  const auto expected = Classifier::load(golden("hf_vit"), {.threads = 1}).logits({&image, 1});
  EXPECT_EQ(Classifier::load(name, {.threads = 1}).logits({&image, 1}), expected);
  EXPECT_EQ(Classifier::load(hub, {.threads = 1}).logits({&image, 1}), expected);

  EXPECT_EQ(load_error("owner/other"), "no such file or folder, and not pulled");
  EXPECT_EQ(load_error("other"), "no such file or folder");
  EXPECT_EQ(load_error("deit_tny_patch16_224"),
            "no such file or folder; did you mean the model 'deit_tiny_patch16_224'?");
  for (const std::string other : {"convnext_tiny", "timm/convnext_tiny.fb_in22k"})
    EXPECT_EQ(load_error(other),
              "no such file or folder; a model of this name is a ConvNeXt (convolutions instead of "
              "attention), which is not supported; a supported model close to it is "
              "deit3_base_patch16_224.fb_in22k_ft_in1k");
  EXPECT_THAT(load_error("deit_tiny"), testing::StartsWith("no such file or folder; did you mean "
                                                           "the model 'deit_tiny_"));
  ASSERT_EQ(unsetenv("VIT_HOME"), 0);
}

TEST(Classifier, LoadsTheModelOfTheEnvironmentWhereNoneIsNamed) {
  ASSERT_EQ(setenv("VIT_MODEL", golden("timm_vit").c_str(), 1), 0);
  const Classifier classifier = Classifier::load({}, {.threads = 1});
  ASSERT_EQ(unsetenv("VIT_MODEL"), 0);
  EXPECT_EQ(classifier.config(), Classifier::load(golden("timm_vit"), {.threads = 1}).config());
}

TEST(Classifier, AnAnswerThatIsNotFiniteIsAnError) {
  const std::vector<float> numbers{1.0f, 2.0f, -INFINITY};
  EXPECT_NO_THROW(check_answer({numbers.data(), 2}));
  try {
    check_answer(numbers);
    FAIL() << "accepted an infinite number";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the model's answer is not finite: number 2 of 3 is -inf");
  }
}

}  // namespace
}  // namespace vit
