// Files of EVA, DINOv3, BEiT, CaiT, RoPE-ViT and Perception Encoder in the layouts of transformers
// and of their authors: they are recognized by their tensors and configs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/paths.h"
#include "tests/weights/support.h"
#include "tests/weights/timm_names.h"
#include "tests/weights/truth.h"
#include "weights/checkpoint.h"
#include "weights/known/architectures.h"

namespace vit::weights {
namespace {

using test::Folder;
using test::RawMap;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

Checkpoint open_family(const std::string& path, size_t heads = 0) {
  return open(vit::test::goldens() / "families" / path, {.heads = heads});
}

TEST(FamilyLayouts, Dinov3OfTransformersRotatesByItsTheta) {
  for (const auto* name : {"hf_dinov3", "hf_dinov3_gated"}) {
    const Checkpoint checkpoint = open_family(name);
    const EncoderConfig& encoder = checkpoint.config.encoder;
    EXPECT_EQ(checkpoint.layout, "Hugging Face DINOv3");
    EXPECT_EQ(encoder.rotary,
              (RotaryConfig{
                  .kind = RotaryKind::kNormalized, .temperature = 100.0f, .split_halves = true}));
    EXPECT_EQ(encoder.heads, 2u);
    EXPECT_TRUE(encoder.qkv_bias && !encoder.key_bias && encoder.layer_scale);
    EXPECT_FLOAT_EQ(encoder.norm_eps, 1e-5f);
    EXPECT_EQ(encoder.gated_mlp, std::string(name) == "hf_dinov3_gated");
    EXPECT_EQ(encoder.mlp_width, 128u);
    EXPECT_EQ(checkpoint.config.embedding.prefix.size(), 5u);
    EXPECT_EQ(checkpoint.config.head.pooling, Pooling::kClass);
    EXPECT_EQ(checkpoint.config.head.classes, 0u);
    EXPECT_EQ(checkpoint.recipe.resize, ResizeMode::kSquash);
    EXPECT_EQ(checkpoint.recipe.interpolation, Interpolation::kBilinear);
    EXPECT_TRUE(checkpoint.recipe.float_resize);
    EXPECT_THAT(describe(checkpoint.recipe), HasSubstr("(bilinear, not rounded to bytes)"));
    EXPECT_THAT(checkpoint.unused, testing::ElementsAre("embeddings.mask_token"));
  }
}

TEST(FamilyLayouts, BeitOfTransformersHasItsOwnRuleForOtherSizes) {
  for (const auto* name : {"hf_beit", "hf_beit_new_names", "hf_data2vec_vision"}) {
    SCOPED_TRACE(name);
    const Checkpoint checkpoint = open_family(name);
    const EncoderConfig& encoder = checkpoint.config.encoder;
    EXPECT_EQ(checkpoint.layout, "Hugging Face BEiT");
    EXPECT_EQ(encoder.relative_bias,
              (RelativeBiasConfig{.kind = RelativeBiasKind::kTable,
                                  .class_rows = true,
                                  .grid = {4, 4},
                                  .resampling = RelativeResampling::kBilinear}));
    EXPECT_EQ(encoder.heads, 4u);
    EXPECT_TRUE(encoder.qkv_bias && !encoder.key_bias && encoder.layer_scale);
    EXPECT_FLOAT_EQ(encoder.norm_eps, 1e-12f);
    EXPECT_EQ(checkpoint.config.head.pooling, Pooling::kMean);
    EXPECT_TRUE(checkpoint.config.head.pooled_norm && !checkpoint.config.head.final_norm);
    EXPECT_EQ(checkpoint.recipe.resize, ResizeMode::kSquash);
    EXPECT_EQ(checkpoint.recipe.interpolation, std::string(name) == "hf_data2vec_vision"
                                                   ? Interpolation::kBicubic
                                                   : Interpolation::kBilinear);
    EXPECT_THAT(checkpoint.unused, Each(HasSubstr("relative_position_index")));
    EXPECT_FALSE(checkpoint.recipe.float_resize);
    EXPECT_EQ(checkpoint.labels.size(), 10u);
  }
}

TEST(FamilyLayouts, Dinov3OfMetaStoresPeriodsThatGiveTheNumberOfHeads) {
  const Checkpoint checkpoint = open_family("original_dinov3/dinov3.pth");
  const EncoderConfig& encoder = checkpoint.config.encoder;
  EXPECT_EQ(checkpoint.layout, "DINOv3");
  EXPECT_TRUE(encoder.rotary.stored_periods && encoder.rotary.split_halves);
  EXPECT_EQ(encoder.rotary.kind, RotaryKind::kNormalized);
  EXPECT_EQ(encoder.heads, 2u);
  EXPECT_FALSE(encoder.key_bias);
  EXPECT_FLOAT_EQ(encoder.norm_eps, 1e-5f);
  EXPECT_EQ(checkpoint.config.head.pooling, Pooling::kClass);
  EXPECT_FLOAT_EQ(checkpoint.recipe.mean[0], 0.485f);
  EXPECT_EQ(checkpoint.recipe.crop_height, 256u);
}

TEST(FamilyLayouts, Eva02OfItsAuthorsRotatesOnItsPretrainingGrid) {
  const Checkpoint checkpoint = open_family("original_eva02/eva02.pt");
  EXPECT_EQ(checkpoint.layout, "EVA-02");
  EXPECT_EQ(checkpoint.config.encoder.rotary,
            (RotaryConfig{.kind = RotaryKind::kAxial, .reference = {16, 16}}));
  EXPECT_EQ(checkpoint.config.encoder.heads, 2u);
  EXPECT_TRUE(checkpoint.config.encoder.gated_mlp && !checkpoint.config.encoder.key_bias);
  EXPECT_EQ(checkpoint.config.embedding.position_resampling, PositionResampling::kBicubic);
  EXPECT_EQ(checkpoint.config.head.pooling, Pooling::kMean);
  EXPECT_EQ(checkpoint.recipe.resize, ResizeMode::kSquash);
  EXPECT_THAT(checkpoint.unused, Each(HasSubstr("rope.freqs_")));
}

TEST(FamilyLayouts, PerceptionEncoderOfMetaRotatesByPlainIndices) {
  const Checkpoint checkpoint = open_family("original_pe_core/PE-Core.pt", 2);
  EXPECT_EQ(checkpoint.layout, "Perception Encoder");
  EXPECT_EQ(checkpoint.config.encoder.rotary,
            (RotaryConfig{.kind = RotaryKind::kAxial, .offset = 1.0f, .columns_first = true}));
  EXPECT_EQ(checkpoint.config.head.pooling, Pooling::kAttention);
  EXPECT_EQ(checkpoint.config.head.pool_heads, 8u);
  EXPECT_TRUE(checkpoint.config.head.pool_prefix && !checkpoint.config.head.head_bias);
  EXPECT_EQ(checkpoint.config.embedding.position_resampling, PositionResampling::kBilinear);
  EXPECT_EQ(checkpoint.recipe.resize, ResizeMode::kSquash);
  EXPECT_EQ(checkpoint.recipe.interpolation, Interpolation::kBilinear);
  EXPECT_FLOAT_EQ(checkpoint.recipe.mean[0], 0.5f);
}

TEST(FamilyLayouts, CaitAndRopeOfTheirAuthorsOpen) {
  const Checkpoint cait = open_family("original_cait/XXS24_224.pth");
  EXPECT_EQ(cait.config.encoder.attention, AttentionKind::kTalkingHeads);
  EXPECT_EQ(cait.config.encoder.heads, 4u);
  EXPECT_EQ(cait.config.head.class_layers, 2u);
  EXPECT_TRUE(cait.config.embedding.prefix.empty());
  EXPECT_EQ(cait.recipe.resize_height, cait.recipe.crop_height);
  EXPECT_THAT(cait.unused, IsEmpty());

  const Checkpoint rope = open_family("original_rope_mixed/rope_mixed.pth", 2);
  EXPECT_EQ(rope.layout, "RoPE-ViT");
  EXPECT_EQ(rope.config.encoder.rotary,
            (RotaryConfig{.kind = RotaryKind::kLearned, .columns_first = true}));
  EXPECT_EQ(rope.at("rope.freqs").shape(), (Shape{2, 2, 2, 8}));
  EXPECT_FLOAT_EQ(rope.recipe.mean[0], 0.485f);
}

/// A shrunken model of an architecture in a file of this name, without a config.
std::string open_bare(const Folder& folder, const std::string& architecture,
                      const std::string& file) {
  const Arguments shrunken{
      {"embed_dim", "48"}, {"depth", "2"}, {"num_heads", "3"}, {"num_classes", "7"}};
  const Architecture& known = *find_architecture(architecture);
  const ModelConfig config = config_of(architecture, shrunken);
  const auto path = folder.write(
      file, test::safetensors(test::timm_names(known, config, test::truth_of(config))));
  return test::error_of(folder, [&] { open(path, {.heads = 3}); });
}

TEST(FamilyLayouts, ABareFileWithoutItsPositionsMustBeNamedAfterItsArchitecture) {
  const Folder folder;
  for (const auto* name :
       {"eva02_tiny_patch14_224", "eva_giant_patch14_224", "vit_small_patch16_dinov3",
        "vit_small_patch16_dinov3_qkvb", "vit_small_patch16_rope_224",
        "vit_pe_core_base_patch16_224", "vit_pe_spatial_base_patch16_512"})
    EXPECT_THAT(open_bare(folder, name, "weights.safetensors"),
                HasSubstr("whether and how it rotates positions is not in its tensors; name the "
                          "file after its architecture"))
        << name;
}

TEST(FamilyLayouts, ABareFileIsRecognisedByItsTensors) {
  const Folder folder;
  const auto bare = [&](const std::string& name) {
    EXPECT_EQ(open_bare(folder, name, "weights.safetensors"), "") << name;
    return open(folder.path("weights.safetensors"), {.heads = 3}).config;
  };
  const ModelConfig beit = bare("beit_base_patch16_224");
  EXPECT_EQ(beit.encoder.relative_bias.kind, RelativeBiasKind::kTable);
  EXPECT_EQ(beit.encoder.relative_bias.grid, (GridSize{14, 14}));
  EXPECT_EQ(beit.embedding.image_height, 224u);
  const ModelConfig cait = bare("cait_xxs24_224");
  EXPECT_EQ(cait.head.class_layers, 2u);
  EXPECT_EQ(cait.embedding.position_resampling, PositionResampling::kBicubicAntialias);
  EXPECT_EQ(bare("vit_relpos_small_patch16_224").encoder.relative_bias.kind,
            RelativeBiasKind::kLogMlp);
  EXPECT_TRUE(bare("vit_srelpos_small_patch16_224").encoder.relative_bias.shared);
  EXPECT_EQ(bare("vit_small_patch16_rope_mixed_224").encoder.rotary.kind, RotaryKind::kLearned);
  EXPECT_EQ(bare("vit_small_patch16_rope_mixed_ape_224").embedding.position_resampling,
            PositionResampling::kBicubicAntialias);
  const ModelConfig naflex = bare("naflexvit_base_patch16_gap");
  EXPECT_EQ(naflex.embedding.position_grid, (GridSize{16, 16}));
  EXPECT_EQ(naflex.embedding.position_resampling, PositionResampling::kBicubicAntialias);
  EXPECT_EQ(naflex.embedding.image_height, 384u);
  EXPECT_EQ(bare("naflexvit_base_patch16_parfac_gap").embedding.positions,
            PositionKind::kFactorized);
}

/// A shrunken model of an architecture under timm's names.
RawMap timm_tensors(const std::string& architecture, Arguments overrides = {}) {
  overrides.insert({{"embed_dim", "48"}, {"depth", "1"}, {"num_heads", "3"}, {"num_classes", "7"}});
  const ModelConfig config = config_of(architecture, overrides);
  return test::timm_names(*find_architecture(architecture), config, test::truth_of(config));
}

/// The image may have as many patches as the table has rows, and still another grid.
TEST(FamilyLayouts, NaFlexStoresTheGridOfItsTable) {
  const Folder folder;
  for (const std::string args : {"4,6", "6,4", "5,5"}) {
    RawMap tensors = timm_tensors("naflexvit_base_patch16_gap", {{"pos_embed_grid_size", args}});
    const GridSize grid{static_cast<size_t>(args[0] - '0'), static_cast<size_t>(args[2] - '0')};
    tensors["embeds.pos_embed"].shape = {1, grid.rows, grid.cols, 48};
    folder.write("weights.safetensors", test::safetensors(tensors));
    EXPECT_EQ(open(folder.path("weights.safetensors"), {.heads = 3}).config.embedding.position_grid,
              grid);
    const Folder timms;
    timms.write("model.safetensors", test::safetensors(tensors));
    timms.write("config.json", R"({"architecture": "naflexvit_base_patch16_gap", "num_classes": 7,
      "model_args": {"embed_dim": 48, "depth": 1, "num_heads": 3, "pos_embed_grid_size": [)" +
                                   args + R"(]}, "pretrained_cfg": {"input_size": [3, 96, 64]}})");
    EXPECT_EQ(open(timms.path()).config.embedding.position_grid, grid);
  }
}

/// Layer scales alone do not make a recipe Facebook's.
TEST(FamilyLayouts, BareFilesHaveTheStatisticsOfTheirFamily) {
  const Folder folder;
  const auto first_mean = [&](const RawMap& tensors) {
    folder.write("weights.safetensors", test::safetensors(tensors));
    return open(folder.path("weights.safetensors"), {.heads = 3}).recipe.mean[0];
  };
  EXPECT_FLOAT_EQ(first_mean(timm_tensors("naflexvit_base_patch16_gap")), 0.5f);
  EXPECT_FLOAT_EQ(first_mean(timm_tensors("vit_relpos_base_patch16_224")), 0.5f);
  EXPECT_FLOAT_EQ(first_mean(timm_tensors("beit_base_patch16_224")), 0.5f);
  EXPECT_FLOAT_EQ(first_mean(timm_tensors("cait_xxs24_224")), 0.485f);
  EXPECT_FLOAT_EQ(first_mean(timm_tensors("vit_small_patch16_rope_mixed_224")), 0.485f);
  EXPECT_FLOAT_EQ(first_mean(timm_tensors("deit3_small_patch16_224")), 0.485f);

  const RawMap lang = test::renamed(timm_tensors("vit_pe_lang_large_patch14_448"),
                                    {{"^patch_embed\\.proj", "conv1"},
                                     {"^cls_token", "class_embedding"},
                                     {"^pos_embed", "positional_embedding"},
                                     {"^norm_pre", "ln_pre"},
                                     {"^head\\.bias", "unknown"},
                                     {"^head\\.weight", "unknown2"},
                                     {"^blocks", "transformer.resblocks"},
                                     {"norm([12])", "ln_$1"},
                                     {"attn\\.qkv\\.", "attn.in_proj_"},
                                     {"attn\\.proj", "attn.out_proj"},
                                     {"mlp\\.fc1", "mlp.c_fc"},
                                     {"mlp\\.fc2", "mlp.c_proj"},
                                     {"gamma_([12])", "ls_$1.gamma"}});
  EXPECT_FLOAT_EQ(first_mean(lang), 0.5f);
}

TEST(FamilyLayouts, AnAttentionPoolOfAGatedEvaIsRefused) {
  try {
    config_of("eva02_tiny_patch14_224", {{"global_pool", "map"}}, "config.json");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "config.json: argument 'global_pool' is 'map', expected avg or token where "
                 "swiglu_mlp is true");
  }
}

TEST(FamilyLayouts, Dinov3OfTransformersMayHaveNoRegisters) {
  const Folder folder;
  RawMap tensors = test::renamed(
      test::with_split_qkv(
          timm_tensors("vit_small_patch16_dinov3", {{"num_classes", "0"}, {"num_reg_tokens", "0"}}),
          "attn.q_proj", "attn.k_proj", "attn.v_proj"),
      {{"^patch_embed\\.proj", "embeddings.patch_embeddings"},
       {"^cls_token", "embeddings.cls_token"},
       {"^blocks", "layer"},
       {"attn\\.proj", "attention.o_proj"},
       {"attn\\.", "attention."},
       {"gamma_([12])", "layer_scale$1.lambda1"},
       {"mlp\\.fc1", "mlp.up_proj"},
       {"mlp\\.fc2", "mlp.down_proj"}});
  tensors["embeddings.register_tokens"] = {{1, 0, 48}, {}};
  folder.write("model.safetensors", test::safetensors(tensors));
  folder.write("config.json", R"({"model_type": "dinov3_vit", "hidden_size": 48,
    "num_hidden_layers": 1, "num_attention_heads": 3, "intermediate_size": 192, "patch_size": 16,
    "image_size": 64, "query_bias": false, "value_bias": false})");
  EXPECT_EQ(open(folder.path()).config.embedding.prefix,
            (std::vector<PrefixToken>{PrefixToken::kClass}));
}

/// As timm reads EVA's files of pre-training: their last norm comes after the pooling.
TEST(FamilyLayouts, EvaOfMaskedImagesHasItsNormAfterThePooling) {
  const Folder folder;
  RawMap tensors = test::renamed(timm_tensors("eva02_tiny_patch14_224", {{"num_classes", "0"}}),
                                 {{"^fc_norm", "norm"}});
  tensors["mask_token"] = test::numbered({1, 1, 48});
  folder.write("model.safetensors", test::safetensors(tensors));
  folder.write("config.json", R"({"architecture": "eva02_tiny_patch14_224", "num_classes": 0,
    "model_args": {"embed_dim": 48, "depth": 1, "num_heads": 3}})");
  const HeadConfig head = open(folder.path()).config.head;
  EXPECT_TRUE(head.pooled_norm && !head.final_norm);
  EXPECT_EQ(head.pooling, Pooling::kMean);
}

/// timm's names with an index into the table of offsets: files of BEiT's authors.
TEST(FamilyLayouts, BeitOfItsAuthorsIsResampledAsInTheirCode) {
  const Folder folder;
  RawMap tensors = timm_tensors("beit_base_patch16_224", {{"img_size", "64"}});
  tensors["blocks.0.attn.relative_position_index"] = test::numbered({17, 17});
  folder.write("model.safetensors", test::safetensors(tensors));
  const auto resampling = [&] {
    return open(folder.path()).config.encoder.relative_bias.resampling;
  };
  EXPECT_EQ(resampling(), RelativeResampling::kGeometricCubic);
  folder.write("config.json", R"({"architecture": "beit_base_patch16_224", "num_classes": 7,
    "model_args": {"embed_dim": 48, "depth": 1, "num_heads": 3, "img_size": 64}})");
  EXPECT_EQ(resampling(), RelativeResampling::kGeometric);  // a folder in timm's layout
}

}  // namespace
}  // namespace vit::weights
