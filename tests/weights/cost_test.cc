#include "weights/cost.h"

#include <gtest/gtest.h>

#include "weights/known/architectures.h"
#include "weights/known/catalogue.h"

namespace vit::weights {
namespace {

double giga(std::string_view architecture) {
  return static_cast<double>(multiply_adds(config_of(architecture))) / 1e9;
}

TEST(ModelCost, CountsEveryMatrixProduct) {
  // 12 blocks over 197 tokens: projections, MLP, scores and values; 196 patches; 1000 classes.
  constexpr std::uint64_t kBlock = 197 * 192 * (4 * 192 + 2 * 768) + 2 * 197 * 197 * 192;
  EXPECT_EQ(multiply_adds(config_of("deit_tiny_patch16_224")),
            12 * kBlock + 196 * 768 * 192 + 192 * 1000);
}

// These figures also count what norms and activations cost, which is below one percent.
TEST(ModelCost, AgreesWithThePublishedFigures) {
  const std::pair<const char*, double> published[] = {{"deit_tiny_patch16_224", 1.26},
                                                      {"vit_small_patch16_224", 4.61},
                                                      {"vit_base_patch16_224", 17.58},
                                                      {"vit_large_patch16_224", 61.60}};
  for (const auto& [architecture, figure] : published)
    EXPECT_NEAR(giga(architecture), figure, 0.01 * figure) << architecture;
}

TEST(ModelCost, GrowsWithTheImage) {
  ModelConfig config = config_of("vit_base_patch16_224");
  const auto small = activation_bytes(config);
  config.embedding.image_height = config.embedding.image_width = 448;
  EXPECT_GT(activation_bytes(config), 3 * small);
}

// The published counts of google's vision_transformer, with 1000 classes.
TEST(Catalogue, CountsTheKnownParameters) {
  const auto parameters = [](std::string_view name) {
    return parameters_of(find_in_catalogue(name).at(0));
  };
  EXPECT_EQ(parameters("vit-base-patch16-224"), 86'567'656u);
  EXPECT_EQ(parameters("google/vit-large-patch16-224"), 304'326'632u);
  EXPECT_EQ(parameters("deit_tiny_patch16_224.fb_in1k"), 5'717'416u);
}

TEST(Catalogue, KnowsEveryArchitectureItNames) {
  for (const auto& model : catalogue()) {
    EXPECT_NE(find_architecture(model.architecture), nullptr) << model.name;
    EXPECT_EQ(find_in_catalogue(model.name).size(), 1u) << model.name;
    EXPECT_EQ(find_in_catalogue(model.hub).size(), 1u) << model.hub;
  }
}

}  // namespace
}  // namespace vit::weights
