#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/message_of.h"
#include "tests/weights/support.h"
#include "tests/weights/truth.h"
#include "weights/checkpoint.h"
#include "weights/layouts/layout.h"
#include "weights/layouts/rules.h"

namespace vit::weights {
namespace {

using test::Folder;
using test::RawMap;
using test::renamed;
using test::tiny_config;
using test::truth_of;
using testing::HasSubstr;

ModelConfig clip_config() {
  ModelConfig config = tiny_config();
  config.embedding.norm_before_blocks = true;
  config.embedding.patch_bias = false;
  config.head.head_bias = false;
  return config;
}

/// Opens these raw tensors with the heads given, since most layouts do not tell them.
Checkpoint open_raw(const Folder& folder, const RawMap& raw, size_t heads = 3) {
  return open(folder.write("weights.safetensors", test::safetensors(raw)), {.heads = heads});
}

const test::Renames kHuggingFace = {
    {"^blocks\\.", "vit.encoder.layer."},
    {"norm1", "layernorm_before"},
    {"norm2", "layernorm_after"},
    {"attn\\.proj", "attention.output.dense"},
    {"mlp\\.fc1", "intermediate.dense"},
    {"mlp\\.fc2", "output.dense"},
    {"^patch_embed\\.proj", "vit.embeddings.patch_embeddings.projection"},
    {"^cls_token", "vit.embeddings.cls_token"},
    {"^pos_embed", "vit.embeddings.position_embeddings"},
    {"^norm", "vit.layernorm"},
    {"^head", "classifier"},
};

const test::Renames kHuggingFaceClip = {
    {"^blocks\\.", "vision_model.encoder.layers."},
    {"norm1", "layer_norm1"},
    {"norm2", "layer_norm2"},
    {"attn\\.proj", "self_attn.out_proj"},
    {"^patch_embed\\.proj", "vision_model.embeddings.patch_embedding"},
    {"^cls_token", "vision_model.embeddings.class_embedding"},
    {"^pos_embed", "vision_model.embeddings.position_embedding.weight"},
    {"^norm_pre", "vision_model.pre_layrnorm"},
    {"^norm\\.", "vision_model.post_layernorm."},
    {"^head", "visual_projection"},
    {"^attn_pool\\.norm", "vision_model.head.layernorm"},
    {"^attn_pool\\.mlp", "vision_model.head.mlp"},
    {"^attn_pool\\.proj", "vision_model.head.attention.out_proj"},
    {"^attn_pool\\.latent", "vision_model.head.probe"},
};

TEST(Layouts, HuggingFaceVit) {
  const Folder folder;
  const RawMap truth = truth_of(tiny_config());
  RawMap raw = renamed(test::with_split_qkv(truth, "attention.attention.query",
                                            "attention.attention.key", "attention.attention.value"),
                       kHuggingFace);
  raw.emplace("vit.pooler.dense.weight", test::numbered({24, 24}));
  const Checkpoint checkpoint = open_raw(folder, raw);
  EXPECT_EQ(checkpoint.layout, "Hugging Face");
  EXPECT_FLOAT_EQ(checkpoint.config.encoder.norm_eps, 1e-12f);
  EXPECT_THAT(checkpoint.unused, testing::ElementsAre("vit.pooler.dense.weight"));
  test::expect_truth(checkpoint, truth);
}

TEST(Layouts, HuggingFaceClip) {
  const Folder folder;
  const RawMap truth = truth_of(clip_config());
  RawMap raw = renamed(
      test::with_split_qkv(truth, "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
      kHuggingFaceClip);
  auto& token = raw.at("vision_model.embeddings.class_embedding");
  token = test::reshaped(token, {24});
  auto& positions = raw.at("vision_model.embeddings.position_embedding.weight");
  positions = test::reshaped(positions, {17, 24});
  raw.emplace("text_model.final_layer_norm.weight", test::numbered({8}));
  const Checkpoint checkpoint = open_raw(folder, raw);
  EXPECT_EQ(checkpoint.layout, "Hugging Face CLIP");
  EXPECT_EQ(checkpoint.config.encoder.activation, Activation::kQuickGelu);
  EXPECT_FLOAT_EQ(checkpoint.config.encoder.norm_eps, 1e-5f);
  EXPECT_FALSE(checkpoint.config.head.head_bias);
  test::expect_truth(checkpoint, truth);
}

TEST(Layouts, HuggingFaceSiglip) {
  const Folder folder;
  ModelConfig config = tiny_config();
  config.embedding.prefix.clear();
  config.head.pooling = Pooling::kAttention;
  config.head.classes = 0;
  const RawMap truth = truth_of(config);
  RawMap canonical = truth;
  RawMap raw;
  for (const std::string suffix : {"weight", "bias"}) {
    raw.emplace(
        "vision_model.head.attention.in_proj_" + suffix,
        test::stacked({truth.at("attn_pool.q." + suffix), truth.at("attn_pool.kv." + suffix)}));
    canonical.erase("attn_pool.q." + suffix);
    canonical.erase("attn_pool.kv." + suffix);
  }
  raw.merge(renamed(
      test::with_split_qkv(canonical, "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
      kHuggingFaceClip));
  const Checkpoint checkpoint = open_raw(folder, raw);
  EXPECT_EQ(checkpoint.config.head.pooling, Pooling::kAttention);
  EXPECT_TRUE(checkpoint.config.embedding.prefix.empty());
  test::expect_truth(checkpoint, truth);
}

TEST(Layouts, OpenAiClip) {
  const Folder folder;
  const RawMap truth = truth_of(clip_config());
  RawMap raw = renamed(truth, {{"^blocks", "visual.transformer.resblocks"},
                               {"norm1", "ln_1"},
                               {"norm2", "ln_2"},
                               {"attn\\.qkv\\.", "attn.in_proj_"},
                               {"attn\\.proj", "attn.out_proj"},
                               {"fc1", "c_fc"},
                               {"fc2", "c_proj"},
                               {"^patch_embed\\.proj", "visual.conv1"},
                               {"^cls_token", "visual.class_embedding"},
                               {"^pos_embed", "visual.positional_embedding"},
                               {"^norm_pre", "visual.ln_pre"},
                               {"^norm\\.", "visual.ln_post."}});
  raw.emplace("visual.proj", test::turned(truth.at("head.weight")));
  raw.erase("head.weight");
  raw.at("visual.class_embedding") = test::reshaped(raw.at("visual.class_embedding"), {24});
  raw.emplace("transformer.resblocks.0.ln_1.weight", test::numbered({8}));
  const Checkpoint checkpoint = open_raw(folder, raw);
  EXPECT_EQ(checkpoint.layout, "OpenAI CLIP");
  EXPECT_EQ(checkpoint.config.encoder.activation, Activation::kQuickGelu);
  EXPECT_THAT(checkpoint.unused, testing::ElementsAre("transformer.resblocks.0.ln_1.weight"));
  test::expect_truth(checkpoint, truth);
}

TEST(Layouts, TorchvisionUnderNewAndOldNames) {
  const Folder folder;
  const RawMap truth = truth_of(tiny_config());
  for (const bool old_names : {false, true}) {
    const RawMap raw = renamed(truth, {{"^blocks\\.", "encoder.layers.encoder_layer_"},
                                       {"norm1", "ln_1"},
                                       {"norm2", "ln_2"},
                                       {"attn\\.qkv\\.", "self_attention.in_proj_"},
                                       {"attn\\.proj", "self_attention.out_proj"},
                                       {"fc1", old_names ? "linear_1" : "0"},
                                       {"fc2", old_names ? "linear_2" : "3"},
                                       {"^patch_embed\\.proj", "conv_proj"},
                                       {"^cls_token", "class_token"},
                                       {"^pos_embed", "encoder.pos_embedding"},
                                       {"^norm\\.", "encoder.ln."},
                                       {"^head", "heads.head"}});
    const Checkpoint checkpoint = open_raw(folder, raw);
    EXPECT_EQ(checkpoint.layout, "torchvision");
    test::expect_truth(checkpoint, truth);
  }
}

/// Google's own files: heads as an axis, inputs before outputs.
RawMap jax_names(const RawMap& truth, const std::string& attention, const std::string& mlp,
                 const std::string& norm2) {
  RawMap raw;
  for (const auto& [name, tensor] :
       test::with_split_qkv(truth, "attn.query", "attn.key", "attn.value")) {
    const bool weight = name.ends_with(".weight");
    test::Raw turned = weight && tensor.shape.size() == 2 ? test::turned(tensor) : tensor;
    const bool in = name.find("attn.query") != std::string::npos ||
                    name.find("attn.key") != std::string::npos ||
                    name.find("attn.value") != std::string::npos;
    if (in) turned.shape = weight ? Shape{24, 3, 8} : Shape{3, 8};
    if (name.find("attn.proj.weight") != std::string::npos) turned.shape = {3, 8, 24};
    raw.emplace(name, turned);
  }
  test::Raw& kernel = raw.at("patch_embed.proj.weight");  // [24, 3, 8, 8] to [8, 8, 3, 24]
  const test::Raw source = kernel;
  kernel.shape = {8, 8, 3, 24};
  for (size_t o = 0; o < 24; ++o)
    for (size_t c = 0; c < 3; ++c)
      for (size_t p = 0; p < 64; ++p)
        kernel.values[(p * 3 + c) * 24 + o] = source.values[(o * 3 + c) * 64 + p];
  return renamed(raw, {{"norm1\\.weight", "LayerNorm_0/scale"},
                       {"norm1\\.bias", "LayerNorm_0/bias"},
                       {"norm2\\.weight", norm2 + "/scale"},
                       {"norm2\\.bias", norm2 + "/bias"},
                       {"^norm\\.weight", "Transformer/encoder_norm/scale"},
                       {"^norm\\.bias", "Transformer/encoder_norm/bias"},
                       {"\\.weight$", "/kernel"},
                       {"\\.bias$", "/bias"},
                       {"attn\\.proj", attention + "/out"},
                       {"attn\\.", attention + "/"},
                       {"mlp\\.fc1", mlp + "/Dense_0"},
                       {"mlp\\.fc2", mlp + "/Dense_1"},
                       {"^blocks\\.(\\d+)\\.", "Transformer/encoderblock_$1/"},
                       {"^patch_embed.proj", "embedding"},
                       {"^cls_token", "cls"}});
}

TEST(Layouts, JaxOfGoogle) {
  const Folder folder;
  const RawMap truth = truth_of(tiny_config());
  RawMap raw =
      renamed(jax_names(truth, "MultiHeadDotProductAttention_1", "MlpBlock_3", "LayerNorm_2"),
              {{"^pos_embed", "Transformer/posembed_input/pos_embedding"}, {"^", "opt/target/"}});
  const Checkpoint checkpoint = open(folder.write("weights.npz", test::npz(raw, true)));
  EXPECT_EQ(checkpoint.layout, "JAX");
  EXPECT_EQ(checkpoint.config.encoder.heads, 3u);
  test::expect_truth(checkpoint, truth);
}

TEST(Layouts, JaxOfBigVisionWithLayersAsAnAxis) {
  const Folder folder;
  ModelConfig config = tiny_config();
  config.embedding.prefix.clear();
  config.head.pooling = Pooling::kMean;
  const RawMap truth = truth_of(config);
  RawMap raw;
  for (const auto& [name, tensor] :
       renamed(jax_names(truth, "MultiHeadDotProductAttention_0", "MlpBlock_0", "LayerNorm_1"),
               {{"^pos_embed", "pos_embedding"}, {"^", "params/"}})) {
    const std::string looped =
        std::regex_replace(name, std::regex("encoderblock_\\d"), "encoderblock");
    if (looped == name) {
      raw.emplace(name, tensor);
      continue;
    }
    test::Raw layer = tensor;
    layer.shape.insert(layer.shape.begin(), 1);
    const auto found = raw.find(looped);
    if (found == raw.end())
      raw.emplace(looped, layer);
    else
      found->second = test::stacked({found->second, layer});
  }
  const Checkpoint checkpoint = open(folder.write("weights.npz", test::npz(raw)));
  EXPECT_EQ(checkpoint.config.encoder.heads, 3u);
  EXPECT_FALSE(checkpoint.config.embedding.positions_cover_prefix &&
               !checkpoint.config.embedding.prefix.empty());
  test::expect_truth(checkpoint, truth);
}

TEST(Layouts, OriginalDinov2GivesRegistersNoPositions) {
  const Folder folder;
  ModelConfig config = tiny_config();
  config.embedding.prefix = {PrefixToken::kClass, PrefixToken::kRegister, PrefixToken::kRegister,
                             PrefixToken::kRegister, PrefixToken::kRegister};
  config.encoder.layer_scale = true;
  config.encoder.gated_mlp = true;
  config.head.classes = 0;
  RawMap truth = truth_of(config);
  auto& positions = truth.at("pos_embed");
  std::fill_n(positions.values.begin() + 24, 4 * 24, 0.0f);
  RawMap raw = renamed(
      truth, {{"reg_token", "register_tokens"}, {"mlp.fc1", "mlp.w12"}, {"mlp.fc2", "mlp.w3"}});
  auto& stored = raw.at("pos_embed");
  stored.values.erase(stored.values.begin() + 24, stored.values.begin() + 5 * 24);
  stored.shape = {1, 17, 24};
  raw.emplace("mask_token", test::numbered({1, 24}));
  const Checkpoint checkpoint = open_raw(folder, raw);
  EXPECT_EQ(checkpoint.config.embedding.prefix, config.embedding.prefix);
  EXPECT_TRUE(checkpoint.config.embedding.positions_cover_prefix);
  EXPECT_EQ(checkpoint.config.encoder.activation, Activation::kSilu);
  EXPECT_EQ(checkpoint.config.encoder.mlp_width, 40u);
  EXPECT_FLOAT_EQ(checkpoint.recipe.mean[0], 0.485f);
  test::expect_truth(checkpoint, truth);
}

TEST(Layouts, OriginalDeit3CallsItsScalesGamma) {
  const Folder folder;
  ModelConfig config = tiny_config();
  config.encoder.layer_scale = true;
  const RawMap truth = truth_of(config);
  const RawMap raw = renamed(truth, {{"ls(\\d)\\.gamma", "gamma_$1"}, {"^", "model."}});
  test::expect_truth(open_raw(folder, raw), truth);
}

TEST(Layouts, AnEarlyPatchKernelIsAMatrix) {
  const Folder folder;
  const RawMap truth = truth_of(tiny_config());
  RawMap raw = truth;
  raw.at("patch_embed.proj.weight").shape = {24, 3 * 8 * 8};
  test::expect_truth(open_raw(folder, raw), truth);
}

TEST(Layouts, OpenClipTowerOfTimm) {
  const Folder folder;
  ModelConfig config = tiny_config();
  config.head.head_bias = false;
  const RawMap truth = truth_of(config);
  const RawMap raw =
      renamed(truth, {{"^(?!head)", "visual.trunk."}, {"^head", "visual.head.proj"}});
  test::expect_truth(open_raw(folder, raw), truth);
}

TEST(Layouts, TheTeacherComesBeforeTheStudentAndTheAverageBeforeBoth) {
  const Folder folder;
  const RawMap truth = truth_of(tiny_config());
  RawMap other = truth;
  for (auto& [name, raw] : other) std::fill(raw.values.begin(), raw.values.end(), -1.0f);
  const auto merged = [&](const std::string& wanted, const std::string& unwanted) {
    RawMap raw = renamed(truth, {{"^", wanted}});
    raw.merge(renamed(other, {{"^", unwanted}}));
    return raw;
  };
  for (const auto& [wanted, unwanted] : {std::pair{"teacher.backbone.", "student.module.backbone."},
                                         {"model_ema.", "model."},
                                         {"state_dict.", "student."},
                                         {"", "student."}}) {
    const Checkpoint checkpoint = open_raw(folder, merged(wanted, unwanted));
    test::expect_truth(checkpoint, truth);
    EXPECT_EQ(checkpoint.unused.size(), truth.size());
  }
}

TEST(Layouts, AFileOfAnotherKindSaysWhatItHolds) {
  const Folder folder;
  EXPECT_EQ(
      test::error_of(folder,
                     [&] {
                       open_raw(folder, {{"conv1.weight", test::numbered({4, 3})}});
                     }),
      "weights.safetensors: holds no Vision Transformer this toolkit knows (Hugging Face BEiT, "
      "Hugging Face DINOv3, Hugging Face, Hugging Face CLIP, Perception Encoder, OpenAI CLIP, GGUF "
      "CLIP, torchvision, JAX, DINOv3, EVA-02, RoPE-ViT, timm NaFlex, timm); its 1 tensors begin "
      "with 'conv1.weight'");
  EXPECT_EQ(test::error_of(folder, [&] { open_raw(folder, {}); }),
            "weights.safetensors: holds no tensors");
}

TEST(Layouts, NamesTheTensorThatIsMissingOrMisshapen) {
  const Folder folder;
  const RawMap truth = truth_of(tiny_config());
  const auto complaint = [&](const auto& change) {
    RawMap raw = truth;
    change(raw);
    return test::error_of(folder, [&] { open_raw(folder, raw); });
  };
  EXPECT_EQ(complaint([](RawMap& raw) { raw.erase("blocks.1.mlp.fc2.weight"); }),
            "weights.safetensors: tensor 'blocks.1.mlp.fc2.weight' is missing");
  EXPECT_EQ(complaint([](RawMap& raw) { raw["blocks.1.norm1.weight"] = test::numbered({23}); }),
            "weights.safetensors: tensor 'blocks.1.norm1.weight' has shape [23], expected [24]");
  EXPECT_EQ(complaint([](RawMap& raw) {
              raw["pos_embed"] = test::numbered({1, 12, 24});
            }),
            "weights.safetensors: tensor 'pos_embed' holds 12 positions, expected 1 for the prefix "
            "tokens and a square number for the patches");
  EXPECT_EQ(
      complaint([](RawMap& raw) { raw["blocks.99999999.norm1.weight"] = test::numbered({24}); }),
      "weights.safetensors: tensor 'blocks.99999999.norm1.weight' counts higher than any model, "
      "at most 4096");
  // An empty tensor has fewer axes than its kind.
  EXPECT_THAT(complaint([](RawMap& raw) { raw["reg_token"] = test::numbered({0}); }),
              testing::StartsWith("weights.safetensors: "));
}

TEST(Layouts, APartThatIsMissingIsNamed) {
  const Folder folder;
  RawMap raw = renamed(test::with_split_qkv(truth_of(tiny_config()), "attention.attention.query",
                                            "attention.attention.key", "attention.attention.value"),
                       kHuggingFace);
  raw.erase("vit.encoder.layer.1.attention.attention.key.bias");
  EXPECT_EQ(test::error_of(folder, [&] { open_raw(folder, raw); }),
            "weights.safetensors: part 2 of 'blocks.1.attn.qkv.bias' is missing");
}

TEST(Rules, NumbersAndTailsAreCarriedOver) {
  EXPECT_EQ(match("layer.#.norm.*", "layer.12.norm.weight", "blocks.#.norm1.*"),
            "blocks.12.norm1.weight");
  EXPECT_EQ(match("a.#.b.#.c", "a.1.b.2.c", "x.#.y.#"), "x.1.y.2");
  EXPECT_EQ(match("a.#.c", "a.x.c", "x.#"), "");
  EXPECT_EQ(match("a.c", "a.c.d", "x"), "");
}

TEST(Jax, AnArrayOfTooManyLayersIsNamedWithItsFile) {
  const TensorMap tensors{
      {"embedding/kernel", {.shape = {4, 4, 3, 8}, .strides = {96, 24, 8, 1}}},
      {"Transformer/encoderblock/LayerNorm_0/scale", {.shape = {100'001, 8}, .strides = {8, 1}}}};
  EXPECT_EQ(vit::test::message_of([&] { interpret(tensors, "m.npz"); }),
            "m.npz: array 'Transformer/encoderblock/LayerNorm_0/scale' has 100001 layers, at most "
            "100000");
}

}  // namespace
}  // namespace vit::weights
