// A real ImageNet model on real photographs, where they are at hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/support/golden.h"
#include "vit/model/classifier.h"
#include "vit/model/load.h"

namespace vit {
namespace {

namespace fs = std::filesystem;

const fs::path kShared = fs::path(VIT_SOURCE_DIR) / ".." / "shared";

TEST(ImageNet, DeitTinyAnswersAsTimmDoes) {
  const fs::path model = kShared / "models" / "deit_tiny_patch16_224";
  const fs::path images = kShared / "images" / "imagenet-100";
  if (!fs::exists(model) || !fs::exists(images))
    GTEST_SKIP() << "needs ../shared/models and ../shared/images";
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

TEST(ImageNet, DeitTinyInt8AnswersAlmostAlike) {
  const fs::path folder = kShared / "models" / "deit_tiny_patch16_224";
  const fs::path images = kShared / "images" / "imagenet-100";
  if (!fs::exists(folder) || !fs::exists(images))
    GTEST_SKIP() << "needs ../shared/models and ../shared/images";
  const weights::Checkpoint checkpoint = weights::open(folder);
  const Model exact = load_model(checkpoint);
  const Model rough = load_model(checkpoint, {.precision = Precision::kInt8});
  ModelWorkspace workspace(exact);
  const auto best = [&](const Model& model, const Image& image) {
    patch::apply_recipe(image, checkpoint.recipe, workspace.recipe, workspace.pixels);
    std::vector<float> logits(model.config.outputs());
    run(model, workspace, logits);
    return std::max_element(logits.begin(), logits.end()) - logits.begin();
  };
  size_t different = 0;
  for (const auto& entry : fs::directory_iterator(images)) {
    const Image image = read_image(entry.path(), patch::Exif::kIgnore);
    different += best(exact, image) != best(rough, image);
  }
  EXPECT_LE(different, 4u);
  RecordProperty("different", static_cast<int>(different));
}

}  // namespace
}  // namespace vit
