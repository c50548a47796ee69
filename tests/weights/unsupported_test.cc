// A checkpoint of a family that the toolkit does not run says what it is and what is close to it.
#include "weights/known/unsupported.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/weights/support.h"
#include "tests/weights/truth.h"
#include "weights/checkpoint.h"
#include "weights/known/architectures.h"
#include "weights/known/catalogue.h"

namespace vit::weights {
namespace {

using test::Folder;
using test::RawMap;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kSwin =
    "a Swin Transformer (attention in shifted windows, patches merged between stages), which is "
    "not supported; a supported model close to it is deit3_base_patch16_224.fb_in22k_ft_in1k";

std::string complaint_about(const RawMap& tensors, const nlohmann::json& config = {}) {
  const Folder folder;
  folder.write("model.safetensors", test::safetensors(tensors));
  if (!config.is_null()) folder.write("config.json", config.dump());
  return test::error_of(folder, [&] { open(folder.path("model.safetensors")); });
}

RawMap with(std::initializer_list<const char*> names) {
  RawMap tensors{{"patch_embed.proj.weight", test::numbered({8, 3, 4, 4})}};
  for (const auto* name : names) tensors.emplace(name, test::numbered({8}));
  return tensors;
}

TEST(Unsupported, AFileIsNamedByItsTensors) {
  EXPECT_EQ(complaint_about(with({"layers.0.blocks.0.attn.relative_position_bias_table"})),
            std::string("model.safetensors: holds ") + kSwin);
  const std::pair<const char*, const char*> signs[] = {
      {"module.layers.0.blocks.0.attn.relative_position_bias_table", "a Swin Transformer"},
      {"swinv2.encoder.layers.0.blocks.0.layernorm_before.weight", "a Swin Transformer"},
      {"patch_embed.backbone.stem.conv.weight", "a hybrid of a ResNet and a Vision Transformer"},
      {"patch_embed.backbone.conv.weight", "a hybrid of a ResNet and a Vision Transformer"},
      {"stages.0.blocks.0.conv_dw.weight", "a ConvNeXt"},
      {"image_encoder.blocks.0.attn.rel_pos_h", "Segment Anything's encoder"},
      {"visual.layer1.0.conv1.weight", "a ResNet"},
      {"blocks.0.mlp_tokens.fc1.weight", "an MLP-Mixer"},
      {"blocks.0.local_mp.conv1.weight", "an XCiT"},
      {"features.1.0.attn.relative_position_bias_table", "a Swin Transformer"},
      {"features.1.0.layer_scale", "a ConvNeXt"},
      {"stages.0.layers.0.depthwise_conv.weight", "a ConvNeXt"},
      {"blocks.2.proj.weight", "a Hiera"},
      {"stages.0.blocks.0.attn.pool_q.weight", "a multiscale Vision Transformer"},
      {"stages.0.blocks.0.attn_grid.attn_block.weight", "a MaxViT or CoAtNet"},
      {"stages.0.blocks.0.conv2_kxk.weight", "a MaxViT or CoAtNet"},
      {"stages.2.1.transformer.0.attn.qkv.weight", "a MobileViT"},
      {"features.1.0.block.0.0.weight", "an EfficientNet or MobileNet"},
      {"stages.0.blocks.0.conv1.weight", "a ResNet"},
      {"pixel_embed.proj.weight", "a Transformer in Transformer (TNT)"},
      {"blocks.0.attn.gating_param", "a ConViT"},
      {"blocks.0.fusion.0.norm1.weight", "a CrossViT"},
      {"stages.0.blocks.0.token_mixer.norm.weight", "a hierarchical transformer"},
  };
  for (const auto& [tensor, family] : signs)
    EXPECT_THAT(complaint_about(with({tensor})),
                StartsWith("model.safetensors: holds " + std::string(family)))
        << tensor;
}

TEST(Unsupported, AFileIsNamedByItsConfigWhereItsTensorsSayNothing) {
  EXPECT_EQ(complaint_about(with({}), {{"architecture", "swin_tiny_patch4_window7_224"}}),
            std::string("config.json: 'swin_tiny_patch4_window7_224' is ") + kSwin);
  EXPECT_EQ(complaint_about(with({}), {{"model_type", "swin"}}),
            std::string("config.json: 'swin' is ") + kSwin);
  for (const auto& [type, family] : {std::pair{"dinov3_convnext", "a ConvNeXt"},
                                     {"vit-hybrid", "a hybrid of a ResNet"},
                                     {"siglip2", "SigLIP 2's NaFlex model"}})
    EXPECT_THAT(complaint_about(with({}), {{"model_type", type}}),
                StartsWith("config.json: '" + std::string(type) + "' is " + family));
  EXPECT_EQ(complaint_about(with({})), "model.safetensors: holds no blocks");
}

TEST(Unsupported, NamesThatAreNeitherKeepTheirMessage) {
  EXPECT_THAT(complaint_about(test::truth_of(test::tiny_config()), {{"model_type", "sphinx"}}),
              HasSubstr("'sphinx' is not one this toolkit knows"));
  EXPECT_THAT(complaint_about(test::truth_of(test::tiny_config()), {{"architecture", "vit_tny"}}),
              HasSubstr("unknown architecture 'vit_tny', the nearest known are"));
}

TEST(Unsupported, NoSupportedArchitectureIsTakenForOne) {
  for (const auto& known : architectures())
    EXPECT_EQ(unsupported_architecture(known.name), nullptr) << known.name;
  for (const auto* name : {"vit_base_r50_s16_384", "vit_small_resnet26d_224"})
    EXPECT_NE(unsupported_architecture(name), nullptr) << name;
}

TEST(Unsupported, EachNamesACloseModelOfTheCatalogue) {
  for (const auto* name :
       {"swin_base", "vit_base_r50_s16_384", "convnext_tiny", "samvit_base", "hiera_base",
        "mvitv2_base", "maxvit_tiny", "pvt_v2_b0", "xcit_nano", "levit_128", "mobilevit_s",
        "efficientnet_b0", "resnet50", "mixer_b16_224", "davit_tiny", "tnt_s", "convit_tiny",
        "crossvit_9_240"}) {
    const auto* family = unsupported_architecture(name);
    ASSERT_NE(family, nullptr) << name;
    EXPECT_EQ(find_in_catalogue(family->instead).size(), 1u) << family->instead;
  }
}

}  // namespace
}  // namespace vit::weights
