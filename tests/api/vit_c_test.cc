// The C functions give what the C++ classes give. Their errors are tested in c_program.c.
#include "vit/vit_c.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "vit/vit.h"

namespace {

using Handle = std::unique_ptr<vit_classifier, void (*)(vit_classifier*)>;
using Picture = std::unique_ptr<vit_image, void (*)(vit_image*)>;

std::string model(const std::string& name) {
  return (vit::test::goldens() / name).string();
}

Handle load(const std::string& name) {
  return {vit_load(model(name).c_str(), 1), vit_free};
}

Picture read(const std::string& name) {
  return {vit_read_image((model(name) + "/image.png").c_str()), vit_free_image};
}

TEST(CInterface, ClassifiesAsTheClassifierDoes) {
  const auto expected = vit::Classifier::load(model("hf_vit"))
                            .classify(vit::read_image(model("hf_vit") + "/image.png"), 3);
  const Handle classifier = load("hf_vit");
  const Picture image = read("hf_vit");
  std::vector<vit_prediction> predictions(3);
  ASSERT_EQ(vit_classify(classifier.get(), image.get(), predictions.data(), 3), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(predictions[i].index, expected[i].index);
    EXPECT_EQ(predictions[i].label, expected[i].label);
    EXPECT_EQ(predictions[i].probability, expected[i].probability);
  }
}

TEST(CInterface, EmbedsEveryKindAsTheClassifierDoes) {
  const auto own = vit::Classifier::load(model("hf_vit"));
  const vit::Image pixels = vit::read_image(model("hf_vit") + "/image.png");
  const Handle classifier = load("hf_vit");
  const Picture image(vit_image_of_pixels(pixels.pixels.data(), pixels.width, pixels.height),
                      vit_free_image);
  const std::pair<int, vit::FeatureKind> kinds[] = {
      {VIT_FEATURES_CLASS, vit::FeatureKind::kClass},
      {VIT_FEATURES_MEAN, vit::FeatureKind::kMean},
      {VIT_FEATURES_PATCHES, vit::FeatureKind::kPatches},
      {VIT_FEATURES_CLASS_AND_MEAN, vit::FeatureKind::kClassAndMean},
      {VIT_FEATURES_POOLED, vit::FeatureKind::kPooled}};
  for (const auto& [kind, same] : kinds) {
    std::vector<float> features(vit_feature_count(classifier.get(), kind));
    ASSERT_EQ(vit_embed(classifier.get(), image.get(), kind, features.data(), features.size()),
              features.size());
    EXPECT_EQ(features, own.features(pixels, same)) << to_string(same);
  }
}

TEST(CInterface, RefusesToClassifyWithoutAClassifier) {
  const Handle classifier = load("timm_dinov2_registers");
  ASSERT_NE(classifier, nullptr) << vit_last_error();
  const Picture image = read("timm_dinov2_registers");
  vit_prediction prediction;
  EXPECT_EQ(vit_class_count(classifier.get()), 0u);
  EXPECT_EQ(vit_classify(classifier.get(), image.get(), &prediction, 1), 0u);
  EXPECT_NE(std::string(vit_last_error()).find("this model has no classifier"), std::string::npos)
      << vit_last_error();
}

}  // namespace
