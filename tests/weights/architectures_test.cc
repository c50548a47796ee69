#include "weights/known/architectures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/weights/support.h"
#include "tests/weights/timm_names.h"
#include "tests/weights/truth.h"
#include "weights/checkpoint.h"
#include "weights/known/heads.h"
#include "weights/known/labels.h"
#include "weights/tensor_list.h"

namespace vit::weights {
namespace {

using test::Folder;
using test::Raw;
using test::RawMap;

size_t parameters_of(const std::string& architecture, const Arguments& overrides = {}) {
  size_t sum = 0;
  for (const auto& spec : tensors_of(config_of(architecture, overrides)))
    sum += element_count(spec.shape);
  return sum;
}

TEST(Architectures, CoverAllOfTimm) {
  EXPECT_EQ(architectures().size(), 268u);
  EXPECT_EQ(published_checkpoints().size(), 437u);
  std::set<std::string> names;
  for (const auto& known : architectures()) {
    names.insert(known.name);
    EXPECT_NO_THROW(config_of(known.name)) << known.name;
  }
  EXPECT_EQ(names.size(), 268u);
  for (const auto& published : published_checkpoints())
    EXPECT_TRUE(names.contains(published.architecture)) << published.name;
}

// The numbers of the ViT paper's authors (vit_jax/models_test.py), with 1000 classes.
TEST(Architectures, HaveTheParametersTheirAuthorsCount) {
  EXPECT_EQ(parameters_of("vit_tiny_patch16_224"), 5717416u);
  EXPECT_EQ(parameters_of("vit_small_patch16_224"), 22050664u);
  EXPECT_EQ(parameters_of("vit_small_patch32_224"), 22878952u);
  EXPECT_EQ(parameters_of("vit_base_patch8_224"), 86576872u);
  EXPECT_EQ(parameters_of("vit_base_patch16_224"), 86567656u);
  EXPECT_EQ(parameters_of("vit_base_patch32_224"), 88224232u);
  EXPECT_EQ(parameters_of("vit_large_patch16_224"), 304326632u);
  EXPECT_EQ(parameters_of("vit_large_patch32_224", {{"num_classes", "1000"}}), 306535400u);
  EXPECT_EQ(parameters_of("vit_huge_patch14_224", {{"num_classes", "1000"}}), 632045800u);
}

TEST(Architectures, KnowTheVariantsOfTheBlock) {
  const ModelConfig aim = config_of("aimv2_large_patch14_224");
  EXPECT_EQ(aim.encoder.norm, NormKind::kRmsNorm);
  EXPECT_FLOAT_EQ(aim.encoder.norm_eps, 1e-5f);
  EXPECT_TRUE(aim.encoder.gated_mlp && aim.embedding.patch_norm && !aim.encoder.qkv_bias &&
              !aim.encoder.mlp_bias);
  EXPECT_EQ(aim.encoder.mlp_width, 2816u);
  EXPECT_EQ(aim.head.pooling, Pooling::kMean);
  EXPECT_TRUE(aim.head.final_norm && !aim.head.pooled_norm);

  const ModelConfig beit = config_of("beit3_base_patch16_224");
  EXPECT_TRUE(beit.encoder.attention_norm && beit.encoder.mlp_norm && beit.head.pooled_norm &&
              !beit.head.final_norm);
  EXPECT_EQ(config_of("vit_base_patch16_rpn_224").encoder.block, BlockKind::kResidualPostNorm);
  EXPECT_FALSE(config_of("vit_base_patch16_rpn_224").encoder.layer_scale);
  EXPECT_EQ(config_of("vit_base_patch16_18x2_224").encoder.branches, 2u);

  const ModelConfig parallel = config_of("vit_base_patch16_xp_224");
  EXPECT_EQ(parallel.encoder.block, BlockKind::kParallel);
  EXPECT_TRUE(parallel.encoder.qk_norm && !parallel.encoder.qkv_bias &&
              parallel.embedding.norm_before_blocks);
  EXPECT_FALSE(parallel.embedding.patch_bias);
  EXPECT_EQ(config_of("vit_dwee_patch16_reg1_gap_256").encoder.attention,
            AttentionKind::kDifferential);
  EXPECT_EQ(config_of("vit_dpwee_patch16_reg1_gap_256").encoder.attention,
            AttentionKind::kDifferential);
  EXPECT_EQ(config_of("vit_dpwee_patch16_reg1_gap_256").encoder.block, BlockKind::kParallel);
  EXPECT_EQ(config_of("vit_so400m_patch14_siglip_224").encoder.mlp_width, 4304u);
  EXPECT_EQ(config_of("vit_giant_patch14_dinov2").encoder.mlp_width, 4096u);
  EXPECT_FALSE(config_of("vit_intern300m_patch14_448").head.final_norm);
  EXPECT_TRUE(config_of("test_vit3").head.pool_prefix);
}

TEST(Architectures, TheirRecipesAreTimms) {
  const Recipe recipe = find_architecture("deit_tiny_patch16_224.fb_in1k")->recipe;
  EXPECT_EQ(recipe.resize_height, 248u);
  EXPECT_EQ(recipe.crop_width, 224u);
  EXPECT_FLOAT_EQ(recipe.mean[2], 0.406f);
  for (const auto& known : published_checkpoints()) {
    if (known.name != "vit_base_patch16_clip_quickgelu_224.openai") continue;
    EXPECT_EQ(known.hub, "timm/vit_base_patch16_clip_224.openai");
    EXPECT_EQ(known.classes, 512u);
  }
}

TEST(Architectures, AnUnknownOneSuggestsTheNearest) {
  const Folder folder;
  EXPECT_EQ(test::error_of(folder, [] { config_of("vit_tiny_patch16_242"); }),
            "architecture: unknown architecture 'vit_tiny_patch16_242', the nearest known are "
            "vit_tiny_patch16_224, vit_tiny_patch16_384, deit_tiny_patch16_224");
}

/// Names end in sizes, which people leave out; similar letters are no reason.
TEST(Architectures, APrefixMeansAllNamesThatStartWithIt) {
  const Folder folder;
  EXPECT_THAT(test::error_of(folder, [] { config_of("vit_tiny"); }),
              testing::HasSubstr("the nearest known are vit_tiny_patch16_"));
}

TEST(Architectures, UnknownArgumentsAreNeverIgnored) {
  const Folder folder;
  const auto complaint = [&](const Arguments& arguments) {
    return test::error_of(folder, [&] { config_of("vit_tiny_patch16_224", arguments); });
  };
  EXPECT_EQ(complaint({{"rope", "true"}}), "architecture: argument 'rope' (true) is not known");
  EXPECT_EQ(complaint({{"depth", "twelve"}}),
            "architecture: argument 'depth' is 'twelve', expected a whole number");
  EXPECT_EQ(complaint({{"qk_norm", "1"}}),
            "architecture: argument 'qk_norm' is '1', expected true or false");
  EXPECT_EQ(complaint({{"norm_layer", "batchnorm"}}),
            "architecture: argument 'norm_layer' is 'batchnorm', expected layernorm or rmsnorm");
  EXPECT_EQ(
      complaint({{"global_pool", "prr"}}),
      "architecture: argument 'global_pool' is 'prr', expected token, avg, max, avgmax or map");
  EXPECT_EQ(complaint({{"num_heads", "5"}}),
            "architecture: width 192 is not a multiple of heads 5");
  EXPECT_EQ(complaint({{"drop_path_rate", "0.1"}, {"dynamic_img_size", "true"}}), "");
}

/// A shrunken model of every architecture, saved under timm's own names, opens number by number.
TEST(Architectures, EveryOneOpensFromItsHubFolder) {
  for (const auto& known : architectures()) {
    SCOPED_TRACE(known.name);
    const Arguments shrunken{{"embed_dim", "48"},
                             {"depth", "2"},
                             {"num_heads", "3"},
                             {"img_size", "64"},
                             {"num_classes", "7"}};
    const ModelConfig config = config_of(known.name, shrunken);
    RawMap truth = test::truth_of(config);
    if (config.encoder.block == BlockKind::kParallel &&
        config.encoder.attention == AttentionKind::kDifferential)
      for (size_t i = 0; i < 2; ++i) truth.erase("blocks." + std::to_string(i) + ".mlp.fc2.bias");
    const Folder folder;
    folder.write("model.safetensors", test::safetensors(test::timm_names(known, config, truth)));
    folder.write(
        "config.json",
        nlohmann::json{
            {"architecture", known.name},
            {"num_classes", 7},
            {"model_args", {{"embed_dim", 48}, {"depth", 2}, {"num_heads", 3}, {"img_size", 64}}}}
            .dump());
    const Checkpoint checkpoint = open(folder.path());
    EXPECT_EQ(checkpoint.config, config);
    EXPECT_TRUE(checkpoint.unused.empty()) << checkpoint.unused.front();
    EXPECT_EQ(checkpoint.recipe.crop_height, 64u);
    test::expect_truth(checkpoint, truth);
  }
}

TEST(Heads, AreThoseOfTheKnownModelsOfTheSameSize) {
  for (const auto* name : {"vit_tiny_patch16_224", "vit_base_patch16_224", "vit_large_patch16_224",
                           "vit_huge_patch14_224", "vit_base_patch16_siglip_224"})
    EXPECT_EQ(usual_heads(config_of(name), "m"), config_of(name).encoder.heads) << name;
}

TEST(Heads, ThatNoFileSaysAreAnAssumption) {
  const Folder folder;
  ModelConfig config = test::tiny_config();
  config.encoder.width = 192;
  config.encoder.depth = 1;
  const auto path = folder.write("w.safetensors", test::safetensors(test::truth_of(config)));
  EXPECT_THAT(open(path).assumptions,
              testing::Contains("3 attention heads, as known models of this size have"));
}

TEST(Heads, ThatKnownModelsDisagreeOnAreListed) {
  const Folder folder;
  ModelConfig config;
  config.embedding.prefix.clear();
  config.head.pooling = Pooling::kMean;
  EXPECT_EQ(
      test::error_of(folder, [&] { usual_heads(config, "m"); }),
      "m: nothing says how many attention heads the model has; known models of width 768 have "
      "12, 16; give the number of heads");
}

TEST(Labels, OfImagenetHaveNamesAndWordnetIds) {
  ASSERT_EQ(imagenet1k_classes().size(), 1000u);
  EXPECT_EQ(imagenet1k_classes()[0].wordnet_id, "n01440764");
  EXPECT_THAT(imagenet1k_classes()[0].names, testing::ElementsAre("tench", "Tinca tinca"));
  EXPECT_EQ(imagenet1k_labels()[999], "toilet tissue");
  EXPECT_EQ(find_imagenet1k_class("n01443537")->names.front(), "goldfish");
  EXPECT_EQ(find_imagenet1k_class("n00000000"), nullptr);
}

}  // namespace
}  // namespace vit::weights
