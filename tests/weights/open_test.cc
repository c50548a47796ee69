#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/paths.h"
#include "tests/support/small_config.h"
#include "tests/weights/support.h"
#include "weights/checkpoint.h"
#include "weights/tensor_list.h"

namespace vit::weights {
namespace {

using test::Folder;
using testing::ElementsAre;

std::filesystem::path golden(const std::string& name) {
  return vit::test::goldens() / name;
}

/// The timm model of most goldens: 64 pixels, 48 wide, 2 blocks, 3 heads, 10 classes.
ModelConfig tiny(const std::string& architecture) {
  ModelConfig c = vit::test::small_config(
      {.patch = 16, .width = 48, .depth = 2, .mlp_width = 192, .classes = 10});
  c.architecture = architecture;
  return c;
}

ModelConfig tiny14(const std::string& architecture) {
  ModelConfig c = tiny(architecture);
  c.embedding.image_height = c.embedding.image_width = 70;
  c.embedding.patch_height = c.embedding.patch_width = 14;
  c.embedding.position_grid = {5, 5};
  return c;
}

constexpr std::array<float, 3> kHalf{0.5f, 0.5f, 0.5f};
constexpr std::array<float, 3> kImagenetMean{0.485f, 0.456f, 0.406f};
constexpr std::array<float, 3> kImagenetStd{0.229f, 0.224f, 0.225f};

Recipe recipe(size_t resize, size_t crop, bool imagenet, Interpolation interpolation,
              double crop_fraction) {
  Recipe result;
  result.resize_height = result.resize_width = resize;
  result.interpolation = interpolation;
  result.crop_height = result.crop_width = crop;
  result.crop_fraction = crop_fraction;
  result.mean = imagenet ? kImagenetMean : kHalf;
  result.std = imagenet ? kImagenetStd : kHalf;
  return result;
}

/// Hugging Face gives sizes, not a fraction.
Recipe hugging_face_recipe(size_t resize, size_t crop, bool imagenet, Interpolation interpolation) {
  return recipe(resize, crop, imagenet, interpolation, 0.0);
}

/// Everything the configuration demands is there, in the right shape, and nothing else.
void expect_complete(const Checkpoint& checkpoint) {
  size_t count = 0;
  for (const auto& spec : tensors_of(checkpoint.config)) {
    const Weight* weight = checkpoint.find(spec.name);
    ASSERT_TRUE(weight != nullptr || spec.optional) << spec.name;
    if (weight == nullptr) continue;
    EXPECT_EQ(weight->shape(), spec.shape) << spec.name;
    ++count;
  }
  EXPECT_EQ(checkpoint.weights().size(), count);
}

TEST(Open, TimmVitInEveryNumberFormat) {
  for (const auto& [name, dtype] : {std::pair{"timm_vit", DType::kF32},
                                    {"timm_vit_f16", DType::kF16},
                                    {"timm_vit_bf16", DType::kBf16},
                                    {"position_bilinear", DType::kF32},
                                    {"timm_vit_pth", DType::kF32}}) {
    const Checkpoint checkpoint = open(golden(name));
    EXPECT_EQ(checkpoint.layout, "timm");
    EXPECT_EQ(checkpoint.config, tiny("vit_tiny_patch16_224")) << name;
    EXPECT_EQ(checkpoint.recipe, recipe(71, 64, false, Interpolation::kBicubic, 0.9)) << name;
    EXPECT_THAT(checkpoint.dtypes(), ElementsAre(dtype));
    EXPECT_TRUE(checkpoint.labels.empty());
    EXPECT_TRUE(checkpoint.unused.empty());
    EXPECT_EQ(checkpoint.parameters(), 94906u);
    expect_complete(checkpoint);
  }
}

TEST(Open, SaysWhichFormatItRead) {
  EXPECT_EQ(open(golden("timm_vit")).format, WeightFormat::kSafetensors);
  EXPECT_EQ(open(golden("timm_vit_pth")).format, WeightFormat::kPyTorchZip);
  EXPECT_EQ(open(golden("jax_npz/vit.npz")).format, WeightFormat::kNpz);
}

TEST(Open, AFileInAFolderFindsItsConfig) {
  EXPECT_EQ(open(golden("timm_vit") / "model.safetensors").config, tiny("vit_tiny_patch16_224"));
}

TEST(Open, TimmDeit3HasLayerScaleAndPositionsForThePatchesAlone) {
  const Checkpoint checkpoint = open(golden("timm_deit3"));
  ModelConfig expected = tiny("deit3_small_patch16_224");
  expected.encoder.layer_scale = true;
  expected.embedding.positions_cover_prefix = false;
  EXPECT_EQ(checkpoint.config, expected);
  EXPECT_EQ(checkpoint.recipe, recipe(71, 64, true, Interpolation::kBicubic, 0.9));
  expect_complete(checkpoint);
}

TEST(Open, TimmDistilledDeitHasTwoTokensAndTwoHeads) {
  const Checkpoint checkpoint = open(golden("timm_deit_distilled"));
  ModelConfig expected = tiny("deit_tiny_distilled_patch16_224");
  expected.embedding.prefix = {PrefixToken::kClass, PrefixToken::kDistillation};
  expected.head.distilled_head = true;
  EXPECT_EQ(checkpoint.config, expected);
  expect_complete(checkpoint);
}

TEST(Open, TimmDinov2) {
  const Checkpoint checkpoint = open(golden("timm_dinov2"));
  ModelConfig expected = tiny14("vit_small_patch14_dinov2");
  expected.encoder.layer_scale = true;
  EXPECT_EQ(checkpoint.config, expected);
  EXPECT_EQ(checkpoint.recipe, recipe(70, 70, true, Interpolation::kBicubic, 1.0));
  expect_complete(checkpoint);
}

TEST(Open, TimmDinov2WithRegistersAndNoClassifier) {
  const Checkpoint checkpoint = open(golden("timm_dinov2_registers"));
  ModelConfig expected = tiny14("vit_small_patch14_reg4_dinov2");
  expected.encoder.layer_scale = true;
  expected.embedding.prefix = {PrefixToken::kClass, PrefixToken::kRegister, PrefixToken::kRegister,
                               PrefixToken::kRegister, PrefixToken::kRegister};
  expected.embedding.positions_cover_prefix = false;
  expected.head.classes = 0;
  EXPECT_EQ(checkpoint.config, expected);
  expect_complete(checkpoint);
}

TEST(Open, TimmDinov2GiantIsGated) {
  const Checkpoint checkpoint = open(golden("timm_dinov2_swiglu"));
  ModelConfig expected = tiny14("vit_giant_patch14_dinov2");
  expected.encoder.layer_scale = true;
  expected.encoder.gated_mlp = true;
  expected.encoder.activation = Activation::kSilu;
  expected.encoder.mlp_width = 128;
  EXPECT_EQ(checkpoint.config, expected);
  EXPECT_EQ(checkpoint.at("blocks.0.mlp.fc1.weight").shape(), (Shape{256, 48}));
  expect_complete(checkpoint);
}

TEST(Open, TimmMeanPoolingWithRegisters) {
  const Checkpoint checkpoint = open(golden("timm_gap_registers"));
  ModelConfig expected = tiny("vit_medium_patch16_reg4_gap_256");
  expected.encoder.layer_scale = true;
  expected.embedding.prefix.assign(4, PrefixToken::kRegister);
  expected.embedding.positions_cover_prefix = false;
  expected.head.pooling = Pooling::kMean;
  expected.head.final_norm = false;
  expected.head.pooled_norm = true;
  EXPECT_EQ(checkpoint.config, expected);
  EXPECT_EQ(checkpoint.recipe, recipe(67, 64, false, Interpolation::kBicubic, 0.95));
  expect_complete(checkpoint);
}

TEST(Open, TimmClipHasAPreNormAndQuickGelu) {
  const Checkpoint checkpoint = open(golden("timm_clip_quickgelu"));
  ModelConfig expected = tiny("vit_base_patch32_clip_quickgelu_224");
  expected.embedding.image_height = expected.embedding.image_width = 96;
  expected.embedding.patch_height = expected.embedding.patch_width = 32;
  expected.embedding.position_grid = {3, 3};
  expected.embedding.norm_before_blocks = true;
  expected.embedding.patch_bias = false;
  expected.encoder.norm_eps = 1e-5f;
  expected.encoder.activation = Activation::kQuickGelu;
  EXPECT_EQ(checkpoint.config, expected);
  EXPECT_FLOAT_EQ(checkpoint.recipe.mean[0], 0.48145466f);
  EXPECT_EQ(checkpoint.recipe.resize_height, 106u);
  expect_complete(checkpoint);
}

TEST(Open, TimmSiglipPoolsByAttention) {
  const Checkpoint checkpoint = open(golden("timm_siglip_map"));
  ModelConfig expected = tiny("vit_base_patch16_siglip_224");
  expected.embedding.prefix.clear();
  expected.head.pooling = Pooling::kAttention;
  EXPECT_EQ(checkpoint.config, expected);
  expect_complete(checkpoint);
}

TEST(Open, TimmNonSquareKeepsItsGrid) {
  const Checkpoint checkpoint = open(golden("timm_nonsquare"));
  ModelConfig expected = tiny("vit_tiny_patch16_224");
  expected.embedding.image_width = 96;
  expected.embedding.position_grid = {4, 6};
  EXPECT_EQ(checkpoint.config, expected);
  Recipe border = recipe(71, 64, false, Interpolation::kBicubic, 0.9);
  border.resize = ResizeMode::kBorder;
  border.resize_width = 106;
  border.crop_width = 96;
  EXPECT_EQ(checkpoint.recipe, border);
}

TEST(Open, HuggingFaceVitUnderOldAndNewNames) {
  for (const auto* name : {"hf_vit", "hf_vit_new_names"}) {
    const Checkpoint checkpoint = open(golden(name));
    ModelConfig expected = tiny("ViTForImageClassification");
    expected.encoder.norm_eps = 1e-12f;
    EXPECT_EQ(checkpoint.layout, "Hugging Face");
    EXPECT_EQ(checkpoint.config, expected) << name;
    Recipe squash = hugging_face_recipe(64, 64, false, Interpolation::kBilinear);
    squash.resize = ResizeMode::kSquash;
    EXPECT_EQ(checkpoint.recipe, squash) << name;
    ASSERT_EQ(checkpoint.labels.size(), 10u);
    EXPECT_EQ(checkpoint.labels[2], "great white shark");
    expect_complete(checkpoint);
  }
}

TEST(Open, HuggingFaceDistilledDeit) {
  const Checkpoint checkpoint = open(golden("hf_deit_distilled"));
  ModelConfig expected = tiny("DeiTForImageClassificationWithTeacher");
  expected.encoder.norm_eps = 1e-12f;
  expected.embedding.prefix = {PrefixToken::kClass, PrefixToken::kDistillation};
  expected.head.distilled_head = true;
  EXPECT_EQ(checkpoint.config, expected);
  EXPECT_EQ(checkpoint.recipe, hugging_face_recipe(72, 64, true, Interpolation::kBicubic));
  expect_complete(checkpoint);
}

TEST(Open, HuggingFaceDinov2ClassifiesClassTokenAndMean) {
  const Checkpoint checkpoint = open(golden("hf_dinov2"));
  ModelConfig expected = tiny14("Dinov2ForImageClassification");
  expected.encoder.layer_scale = true;
  expected.head.pooling = Pooling::kClassAndMean;
  EXPECT_EQ(checkpoint.config, expected);
  EXPECT_EQ(checkpoint.recipe, hugging_face_recipe(80, 70, true, Interpolation::kBicubic));
  EXPECT_THAT(checkpoint.unused, ElementsAre("dinov2.embeddings.mask_token"));
  expect_complete(checkpoint);
}

TEST(Open, TorchvisionWithoutAConfigNeedsTheHeads) {
  const auto path = golden("torchvision_pth/vit.pth");
  const Checkpoint checkpoint = open(path, {.heads = 3});
  EXPECT_EQ(checkpoint.layout, "torchvision");
  EXPECT_EQ(checkpoint.config, tiny(""));
  EXPECT_EQ(checkpoint.recipe, recipe(73, 64, true, Interpolation::kBilinear, 0.875));
  expect_complete(checkpoint);
  const Folder folder;
  EXPECT_EQ(test::error_of(folder, [&] { open(path); }),
            path.string() +
                ": nothing says how many attention heads the model has; its width 48 can be split "
                "into 1, 2, 3, 4, 6, 8, 12, 16, 24, 48; give the number of heads");
}

TEST(Open, JaxTellsItsHeadsByItself) {
  const Checkpoint checkpoint = open(golden("jax_npz/vit.npz"));
  EXPECT_EQ(checkpoint.layout, "JAX");
  EXPECT_EQ(checkpoint.config, tiny(""));
  EXPECT_EQ(checkpoint.recipe, recipe(71, 64, false, Interpolation::kBicubic, 0.9));
  EXPECT_THAT(checkpoint.assumptions,
              ElementsAre("the usual recipe of JAX checkpoints, activation gelu"));
  expect_complete(checkpoint);
}

TEST(Open, SaysWhatIsWrongWithAPath) {
  const Folder folder;
  const auto complaint = [&](const std::string& name) {
    return test::error_of(folder, [&] { open(folder.path(name)); });
  };
  EXPECT_EQ(complaint("missing"), "missing: no such file or folder");
  folder.write("empty", "");
  EXPECT_EQ(complaint("empty"), "empty: is empty");
  folder.write("text.bin", "these are no weights at all");
  EXPECT_EQ(complaint("text.bin").substr(0, 49),
            "text.bin: is none of the weight formats this tool");
}

TEST(Open, AFolderMustHoldOneModel) {
  const Folder folder;
  const auto complaint = [&] { return test::error_of(folder, [&] { open(folder.path() + "/"); }); };
  EXPECT_EQ(
      complaint(),
      ": holds no weights, expected model.safetensors, pytorch_model.bin or one .safetensors, "
      ".pth, .pt, .bin, .npz or .gguf file");
  folder.write("a.pth", "x");
  folder.write("b.npz", "x");
  EXPECT_EQ(complaint(), ": holds several weight files, name one of them: a.pth, b.npz");
}

}  // namespace
}  // namespace vit::weights
