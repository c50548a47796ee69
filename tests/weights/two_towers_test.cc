/// Two-tower files of families whose weights are not part of the reference cases: both towers are
/// found, with the parts that differ from CLIP's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/weights/support.h"
#include "tests/weights/timm_names.h"
#include "tests/weights/truth.h"
#include "weights/known/architectures.h"
#include "weights/locate.h"
#include "weights/text.h"

namespace vit::weights {
namespace {

using nlohmann::json;
using test::Folder;
using test::numbered;
using test::RawMap;

constexpr size_t kWidth = 128, kFeatures = 24, kContext = 8, kVocabulary = 60;

/// A text tower of one block under OpenAI's names.
RawMap text_tower(const std::string& prefix) {
  RawMap raw{{"token_embedding.weight", numbered({kVocabulary, kWidth})},
             {"positional_embedding", numbered({kContext, kWidth})},
             {"ln_final.weight", numbered({kWidth})},
             {"ln_final.bias", numbered({kWidth})},
             {"text_projection", numbered({kWidth, kFeatures})}};
  const std::string block = "transformer.resblocks.0.";
  for (const auto* norm : {"ln_1", "ln_2"})
    for (const auto* part : {".weight", ".bias"})
      raw.emplace(block + norm + part, numbered({kWidth}));
  raw.emplace(block + "attn.in_proj_weight", numbered({3 * kWidth, kWidth}));
  raw.emplace(block + "attn.in_proj_bias", numbered({3 * kWidth}));
  raw.emplace(block + "attn.out_proj.weight", numbered({kWidth, kWidth}));
  raw.emplace(block + "attn.out_proj.bias", numbered({kWidth}));
  raw.emplace(block + "mlp.c_fc.weight", numbered({4 * kWidth, kWidth}));
  raw.emplace(block + "mlp.c_fc.bias", numbered({4 * kWidth}));
  raw.emplace(block + "mlp.c_proj.weight", numbered({kWidth, 4 * kWidth}));
  raw.emplace(block + "mlp.c_proj.bias", numbered({kWidth}));
  RawMap named;
  for (auto& [name, tensor] : raw) named.emplace(prefix + name, std::move(tensor));
  named.emplace("logit_scale", numbered({1}, 2.0f));
  return named;
}

RawMap timm_tower(const std::string& architecture, const json& arguments) {
  Arguments shrunken{{"num_classes", std::to_string(kFeatures)}, {"img_size", "32"}};
  for (const auto& [name, value] : arguments.items()) shrunken[name] = value.dump();
  const ModelConfig config = config_of(architecture, shrunken);
  if (!config.embedding.conv_stem) return test::truth_of(config);
  return test::timm_names(*find_architecture(architecture), config, test::truth_of(config));
}

/// OpenCLIP's folder of a tower of timm with its own classifier as projection.
Folder& open_clip(Folder& folder, const std::string& architecture, const json& arguments,
                  const std::string& pool) {
  RawMap raw = text_tower("text.");
  for (const auto& [name, tensor] : timm_tower(architecture, arguments))
    raw.emplace("visual.trunk." + name, tensor);
  folder.write("open_clip_model.safetensors", test::safetensors(raw));
  const json model{{"embed_dim", kFeatures},
                   {"custom_text", true},
                   {"vision_cfg",
                    {{"image_size", 32},
                     {"timm_model_name", architecture},
                     {"timm_model_kwargs", arguments},
                     {"timm_pool", pool},
                     {"timm_proj", nullptr}}},
                   {"text_cfg",
                    {{"context_length", kContext},
                     {"vocab_size", kVocabulary},
                     {"width", kWidth},
                     {"heads", 2},
                     {"layers", 1}}}};
  folder.write("open_clip_config.json", json{{"model_cfg", model}}.dump());
  return folder;
}

void expect_both_towers(const Folder& folder) {
  const Checkpoint image = open(folder.path());
  EXPECT_EQ(image.config.outputs(), kFeatures);
  EXPECT_TRUE(image.text_tower);
  const TextCheckpoint text = open_text(folder.path());
  EXPECT_EQ(text.config.features, kFeatures);
  EXPECT_EQ(text.config.context, kContext);
  EXPECT_EQ(text.config.encoder.heads, 2u);
  EXPECT_EQ(text.config.encoder.activation, Activation::kGelu);
  EXPECT_EQ(text.config.tokenizer, TokenizerKind::kOpenClip);
  EXPECT_TRUE(text.config.causal);
}

TEST(TwoTowers, PerceptionEncoderInOpenClip) {
  Folder folder;
  expect_both_towers(open_clip(folder, "vit_pe_core_tiny_patch16_384",
                               {{"embed_dim", 64}, {"depth", 1}, {"num_heads", 2}}, "map"));
}

TEST(TwoTowers, EvaClipInOpenClip) {
  Folder folder;
  expect_both_towers(open_clip(folder, "eva02_base_patch16_clip_224",
                               {{"embed_dim", 64}, {"depth", 1}, {"num_heads", 2}}, "token"));
}

TEST(TwoTowers, MobileClipBInOpenClip) {
  Folder folder;
  open_clip(folder, "vit_base_mci_224", {{"depth", 1}, {"embed_dim", 64}, {"num_heads", 2}},
            "token");
  expect_both_towers(folder);
  const Checkpoint image = open(folder.path());
  EXPECT_TRUE(image.config.embedding.conv_stem);
  EXPECT_FALSE(image.config.embedding.positions_cover_prefix);
  EXPECT_EQ(image.config.head.pooling, Pooling::kClass);
  EXPECT_TRUE(image.unused.empty() || image.unused.front().find("visual") == std::string::npos);
}

const json kSmall{{"embed_dim", 64}, {"depth", 1}, {"num_heads", 2}};

/// With a projection of its own beside the tower, OpenCLIP averages a tower whose norm is of all
/// tokens. It averages, too, where the config does not say how to pool.
TEST(TwoTowers, AnAveragedTowerKeepsItsNormWhereItIs) {
  Folder folder;
  open_clip(folder, "vit_base_patch16_224", kSmall, "token");
  RawMap raw = text_tower("text.");
  for (const auto& [name, tensor] : timm_tower("vit_base_patch16_224", kSmall))
    raw.emplace(
        name.starts_with("head.") ? "visual.head.proj." + name.substr(5) : "visual.trunk." + name,
        tensor);
  folder.write("open_clip_model.safetensors", test::safetensors(raw));
  json config = json::parse(std::ifstream(folder.path("open_clip_config.json")));
  json& vision = config["model_cfg"]["vision_cfg"];
  vision["timm_proj"] = "linear";
  vision.erase("timm_pool");
  folder.write("open_clip_config.json", config.dump());
  const Checkpoint image = open(folder.path());
  EXPECT_EQ(image.config.head.pooling, Pooling::kMean);
  EXPECT_TRUE(image.config.head.final_norm);
  EXPECT_FALSE(image.config.head.pooled_norm);
  EXPECT_EQ(image.config.outputs(), kFeatures);
}

/// As timm's repositories: model.safetensors and config.json are of the image tower alone.
TEST(TwoTowers, AreFoundBesideTheBareTowerOfTimm) {
  Folder folder;
  open_clip(folder, "vit_base_patch16_224", kSmall, "token");
  folder.write("model.safetensors", test::safetensors(timm_tower("vit_base_patch16_224", kSmall)));
  folder.write("config.json", json{{"architecture", "vit_base_patch16_224"},
                                   {"num_classes", kFeatures},
                                   {"model_args", kSmall}}
                                  .dump());
  expect_both_towers(folder);
}

/// The model of transformers is the same as OpenCLIP's beside it, and has its own tokenizer.
TEST(TwoTowers, OfTransformersComeBeforeThoseOfOpenClip) {
  Folder folder;
  open_clip(folder, "vit_base_patch16_224", kSmall, "token");
  const auto own = folder.write("model.safetensors", "");
  folder.write("config.json", json{{"model_type", "clip"}}.dump());
  EXPECT_EQ(locate(folder.path()).weights, own);
}

TEST(TwoTowers, EvaClipOfItsAuthorsHasAnotherActivation) {
  const Folder folder;
  const TextCheckpoint text =
      open_text(folder.write("EVA02_CLIP_B.safetensors", test::safetensors(text_tower("text."))));
  EXPECT_EQ(text.config.encoder.activation, Activation::kGelu);
  EXPECT_EQ(text.config.tokenizer, TokenizerKind::kOpenClip);
}

/// Meta's own files: OpenAI's names without a configuration, but not OpenAI's activation.
TEST(TwoTowers, PerceptionEncoderOfItsAuthorsHasAnotherActivation) {
  const Folder folder;
  RawMap raw = text_tower("");
  const auto clip = folder.write("clip.safetensors", test::safetensors(raw));
  EXPECT_EQ(open_text(clip).config.encoder.activation, Activation::kQuickGelu);
  raw.emplace("visual.attn_pool.probe", numbered({1, 1, 4}));
  const TextCheckpoint text =
      open_text(folder.write("PE-Core.safetensors", test::safetensors(raw)));
  EXPECT_EQ(text.config.encoder.activation, Activation::kGelu);
  EXPECT_EQ(text.config.tokenizer, TokenizerKind::kOpenClip);
  EXPECT_EQ(text.config.encoder.heads, 2u);
}

}  // namespace
}  // namespace vit::weights
