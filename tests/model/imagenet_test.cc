// A real ImageNet model on real photographs, where these are available.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/golden.h"
#include "tests/support/paths.h"
#include "vit/model/classifier.h"

namespace vit {
namespace {

namespace fs = std::filesystem;

const fs::path kShared = test::shared();

bool has_photographs() {
  return fs::exists(kShared / "models" / "deit_tiny_patch16_224") &&
         fs::exists(kShared / "images" / "imagenet-100");
}

TEST(ImageNet, DeitTinyAnswersAsTimmDoes) {
  const fs::path model = kShared / "models" / "deit_tiny_patch16_224";
  const fs::path images = kShared / "images" / "imagenet-100";
  if (!has_photographs()) GTEST_SKIP() << "needs ../shared/models and ../shared/images";
  const Classifier classifier = Classifier::load(model);
  const auto reference = test::read_json(kShared / "images" / "imagenet-100.json");

  size_t compared = 0;
  for (const auto& [file, answer] : reference.at("images").items()) {
    const Image image = read_image(images / file, patch::Exif::kIgnore);
    const auto logits = classifier.logits({&image, 1});
    const std::vector<float> probabilities = classifier.probabilities(logits.front());
    const auto best = classifier.top(probabilities, 1).front();
    EXPECT_EQ(best.index, answer.at("top5").at(0).at(0).get<size_t>()) << file;
    for (const auto& entry : answer.at("top5"))
      EXPECT_NEAR(probabilities[entry.at(0).get<size_t>()], entry.at(1).get<double>(), 1e-3)
          << file;
    ++compared;
  }
  EXPECT_EQ(compared, 100u);
}

/// What the first of two ways to run DeiT-Ti answers, compared with the second.
struct Comparison {
  int different = 0;
  int right_first = 0;
  int right_second = 0;
};

Comparison compare(const ClassifierOptions& first, const ClassifierOptions& second) {
  const fs::path folder = kShared / "models" / "deit_tiny_patch16_224";
  const Classifier one = Classifier::load(folder, first), other = Classifier::load(folder, second);
  const auto reference = test::read_json(kShared / "images" / "imagenet-100.json");
  Comparison result;
  for (const auto& [file, answer] : reference.at("images").items()) {
    const Image image =
        read_image(kShared / "images" / "imagenet-100" / file, patch::Exif::kIgnore);
    const size_t a = one.classify(image, 1).front().index;
    const size_t b = other.classify(image, 1).front().index;
    const auto right = answer.at("label").get<size_t>();
    result.different += a != b;
    result.right_first += a == right;
    result.right_second += b == right;
  }
  return result;
}

TEST(ImageNet, DeitTinyInEightBitsAnswersAlmostAlike) {
  if (!has_photographs()) GTEST_SKIP() << "needs ../shared/models and ../shared/images";
  const Comparison result = compare({.precision = Precision::kInt8}, {});
  EXPECT_LE(result.different, 4);
  EXPECT_EQ(result.right_second, 78);
}

TEST(ImageNet, DeitTinyWithMergedTokensAnswersAlmostAlike) {
  if (!has_photographs()) GTEST_SKIP() << "needs ../shared/models and ../shared/images";
  const Comparison result = compare({.merge_tokens = 8}, {});
  EXPECT_LE(result.different, 12);
  EXPECT_GT(result.different, 0) << "nothing was merged";
  EXPECT_GE(result.right_first, result.right_second - 3);
}

}  // namespace
}  // namespace vit
