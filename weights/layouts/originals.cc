#include "weights/layouts/tables.h"

namespace vit::weights {
namespace {

/// facebookresearch/dinov3. The key third of the bias is masked there, whatever it holds.
constexpr Rule kDinov3Rules[] = {
    {"patch_embed.proj.*", "patch_embed.proj.*"},
    {"cls_token", "cls_token"},
    {"storage_tokens", "reg_token"},
    {"rope_embed.periods", "rope.periods"},
    {"blocks.#.norm1.*", "blocks.#.norm1.*"},
    {"blocks.#.attn.qkv.weight", "blocks.#.attn.qkv.weight"},
    {"blocks.#.attn.qkv.bias", "blocks.#.attn.q_bias", first_third_of_rows},
    {"blocks.#.attn.qkv.bias", "blocks.#.attn.v_bias", last_third_of_rows},
    {"blocks.#.attn.proj.*", "blocks.#.attn.proj.*"},
    {"blocks.#.ls1.gamma", "blocks.#.ls1.gamma"},
    {"blocks.#.norm2.*", "blocks.#.norm2.*"},
    {"blocks.#.mlp.fc1.*", "blocks.#.mlp.fc1.*"},
    {"blocks.#.mlp.fc2.*", "blocks.#.mlp.fc2.*"},
    {"blocks.#.mlp.w1.*", "blocks.#.mlp.fc1.*", nullptr, 0},
    {"blocks.#.mlp.w2.*", "blocks.#.mlp.fc1.*", nullptr, 1},
    {"blocks.#.mlp.w3.*", "blocks.#.mlp.fc2.*"},
    {"blocks.#.ls2.gamma", "blocks.#.ls2.gamma"},
    {"norm.*", "norm.*"},
};

/// baaivision/EVA. The tables of sines and cosines follow from the grid; their width is a head's.
constexpr Rule kEvaRules[] = {
    {"patch_embed.proj.*", "patch_embed.proj.*"},
    {"cls_token", "cls_token"},
    {"pos_embed", "pos_embed"},
    {"rope.freqs_cos", "rope.freqs_cos"},
    {"blocks.#.norm1.*", "blocks.#.norm1.*"},
    {"blocks.#.attn.qkv.weight", "blocks.#.attn.qkv.weight"},
    {"blocks.#.attn.q_proj.weight", "blocks.#.attn.qkv.weight", nullptr, 0},
    {"blocks.#.attn.k_proj.weight", "blocks.#.attn.qkv.weight", nullptr, 1},
    {"blocks.#.attn.v_proj.weight", "blocks.#.attn.qkv.weight", nullptr, 2},
    {"blocks.#.attn.q_bias", "blocks.#.attn.q_bias"},
    {"blocks.#.attn.v_bias", "blocks.#.attn.v_bias"},
    {"blocks.#.attn.inner_attn_ln.*", "blocks.#.attn.norm.*"},
    {"blocks.#.attn.proj.*", "blocks.#.attn.proj.*"},
    {"blocks.#.norm2.*", "blocks.#.norm2.*"},
    {"blocks.#.mlp.fc1.*", "blocks.#.mlp.fc1.*"},
    {"blocks.#.mlp.fc2.*", "blocks.#.mlp.fc2.*"},
    {"blocks.#.mlp.w12.*", "blocks.#.mlp.fc1.*"},
    {"blocks.#.mlp.w1.*", "blocks.#.mlp.fc1.*", nullptr, 0},
    {"blocks.#.mlp.w2.*", "blocks.#.mlp.fc1.*", nullptr, 1},
    {"blocks.#.mlp.ffn_ln.*", "blocks.#.mlp.norm.*"},
    {"blocks.#.mlp.w3.*", "blocks.#.mlp.fc2.*"},
    {"norm.*", "norm.*"},
    {"fc_norm.*", "fc_norm.*"},
    {"head.weight", "head.weight"},
    {"head.bias", "head.bias"},
};

/// naver-ai/rope-vit with learned frequencies.
constexpr Rule kRopeRules[] = {
    {"patch_embed.proj.*", "patch_embed.proj.*"},
    {"cls_token", "cls_token"},
    {"pos_embed", "pos_embed"},
    {"freqs", "rope.freqs"},
    {"blocks.#.norm1.*", "blocks.#.norm1.*"},
    {"blocks.#.attn.qkv.*", "blocks.#.attn.qkv.*"},
    {"blocks.#.attn.proj.*", "blocks.#.attn.proj.*"},
    {"blocks.#.gamma_1", "blocks.#.ls1.gamma"},
    {"blocks.#.norm2.*", "blocks.#.norm2.*"},
    {"blocks.#.mlp.fc1.*", "blocks.#.mlp.fc1.*"},
    {"blocks.#.mlp.fc2.*", "blocks.#.mlp.fc2.*"},
    {"blocks.#.gamma_2", "blocks.#.ls2.gamma"},
    {"norm.*", "norm.*"},
    {"head.weight", "head.weight"},
    {"head.bias", "head.bias"},
};

/// facebookresearch/perception_models: OpenAI's names, with layer scale and an attention pool.
constexpr Rule kPerceptionRules[] = {
    {"conv1.weight", "patch_embed.proj.weight"},
    {"class_embedding", "cls_token"},
    {"positional_embedding", "pos_embed"},
    {"ln_pre.*", "norm_pre.*"},
    {"ln_post.*", "norm.*"},
    {"attn_pool.probe", "attn_pool.latent"},
    {"attn_pool.attn.in_proj_weight", "attn_pool.q.weight", first_third_of_rows},
    {"attn_pool.attn.in_proj_weight", "attn_pool.kv.weight", rows_after_first_third},
    {"attn_pool.attn.in_proj_bias", "attn_pool.q.bias", first_third_of_rows},
    {"attn_pool.attn.in_proj_bias", "attn_pool.kv.bias", rows_after_first_third},
    {"attn_pool.attn.out_proj.*", "attn_pool.proj.*"},
    {"attn_pool.layernorm.*", "attn_pool.norm.*"},
    {"attn_pool.mlp.c_fc.*", "attn_pool.mlp.fc1.*"},
    {"attn_pool.mlp.c_proj.*", "attn_pool.mlp.fc2.*"},
    {"proj", "head.weight", transposed},
};

bool has_periods(const TensorMap& tensors, const std::string& prefix) {
  return tensors.contains(prefix + "rope_embed.periods");
}

bool has_cosines(const TensorMap& tensors, const std::string& prefix) {
  return tensors.contains(prefix + "rope.freqs_cos");
}

bool has_frequencies(const TensorMap& tensors, const std::string& prefix) {
  return tensors.contains(prefix + "freqs");
}

/// CLIP has neither an attention pool of this name nor a tower without a norm at its end.
bool is_perception(const TensorMap& tensors, const std::string& prefix) {
  return tensors.contains(prefix + "transformer.resblocks.0.ln_1.weight") &&
         (tensors.contains(prefix + "attn_pool.probe") ||
          !tensors.contains(prefix + "ln_post.weight"));
}

}  // namespace

Layout dinov3_layout() {
  return {.name = "DINOv3",
          .anchor = "patch_embed.proj.weight",
          .inner_prefixes = {},
          .rules = kDinov3Rules,
          .norm_eps = 1e-5f,
          .crop_pct = 1.0,
          .statistics = "imagenet",
          .image_size = 256,
          .applies = has_periods};
}

Layout eva_layout() {
  return {.name = "EVA-02",
          .anchor = "patch_embed.proj.weight",
          .inner_prefixes = {},
          .rules = kEvaRules,
          .crop_pct = 1.0,
          .crop_mode = "squash",
          .statistics = "clip",
          .rotary = {.kind = RotaryKind::kAxial, .reference = {16, 16}},  // of its pre-training
          .resampling = PositionResampling::kBicubic,
          .applies = has_cosines};
}

Layout rope_layout() {
  return {.name = "RoPE-ViT",
          .anchor = "patch_embed.proj.weight",
          .inner_prefixes = {},
          .rules = kRopeRules,
          .statistics = "imagenet",
          .resampling = PositionResampling::kBicubic,
          .applies = has_frequencies};
}

Layout perception_layout() {
  return {.name = "Perception Encoder",
          .anchor = "conv1.weight",
          .inner_prefixes = {},
          .rules = kPerceptionRules,
          .block_rules = kOpenAiBlockRules,
          .family = LayoutFamily::kPerception,
          .norm_eps = 1e-5f,
          .crop_pct = 1.0,
          .crop_mode = "squash",
          .interpolation = "bilinear",
          .rotary = {.kind = RotaryKind::kAxial, .columns_first = true},
          .applies = is_perception};
}

}  // namespace vit::weights
