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
  ModelConfig layers = config_of("deit_tiny_patch16_224");
  layers.head.pooling = Pooling::kClassAndMean;
  layers.head.pooled_layers = 4;
  EXPECT_EQ(multiply_adds(layers), 12 * kBlock + 196 * 768 * 192 + 4 * 2 * 192 * 1000);
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

TEST(Catalogue, TellsEmbeddingsFromClasses) {
  const auto model = [](std::string_view name) { return find_in_catalogue(name).at(0); };
  EXPECT_EQ(model("vit_base_patch16_clip_224.openai").embedding, 512u);
  EXPECT_EQ(model("vit_base_patch16_clip_224.openai").classes, 0u);
  EXPECT_EQ(model("vit_base_patch16_clip_224.openai_ft_in1k").classes, 1000u);
  EXPECT_EQ(model("vit_base_patch16_224.augreg_in21k").classes, 21843u);
  for (const auto& one : catalogue())
    EXPECT_TRUE(one.classes == 0 || one.embedding == 0) << one.name;
}

// 39 rows of accuracy.txt; a row whose name is not in the catalogue would be lost.
TEST(Catalogue, UsesEveryPublishedAccuracy) {
  size_t known = 0;
  for (const auto& model : catalogue()) {
    known += model.top1.has_value();
    EXPECT_TRUE(!model.top1 || model.classes == 1000) << model.name;
  }
  EXPECT_EQ(known, 39u);
}

TEST(Catalogue, CountsTheWorkAtTheSizeOfTheImages) {
  const CatalogueModel small = find_in_catalogue("facebook/dinov2-base").at(0);
  const CatalogueModel large = find_in_catalogue("vit_base_patch14_dinov2.lvd142m").at(0);
  EXPECT_EQ(config_of(small).embedding.image_height, 224u);
  EXPECT_LT(4 * multiply_adds(config_of(small)), multiply_adds(config_of(large)));
  EXPECT_EQ(parameters_of(small), parameters_of(large));  // one table of positions
}

TEST(Catalogue, SortsModelsIntoFamilies) {
  const auto family = [](std::string_view name) {
    return family_of(find_in_catalogue(name).at(0));
  };
  EXPECT_EQ(family("deit3_base_patch16_224.fb_in1k"), "deit3");
  EXPECT_EQ(family("facebook/deit-tiny-patch16-224"), "deit");
  EXPECT_EQ(family("facebook/dino-vits8"), "dino");
  EXPECT_EQ(family("facebook/dinov2-base"), "dinov2");
  EXPECT_EQ(family("vit_base_patch16_siglip_224.webli"), "siglip");
  EXPECT_EQ(family("openai/clip-vit-base-patch16"), "clip");
  EXPECT_EQ(family("vit_base_patch16_224.augreg_in1k"), "vit");
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
