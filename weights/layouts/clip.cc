#include "weights/layouts/tables.h"

namespace vit::weights {
namespace {

/// The image tower of OpenAI's and OpenCLIP's files. Its output is the shared embedding.
constexpr Rule kOpenAiRules[] = {
    {"conv1.weight", "patch_embed.proj.weight"},
    {"class_embedding", "cls_token"},
    {"positional_embedding", "pos_embed"},
    {"ln_pre.*", "norm_pre.*"},
    {"transformer.resblocks.#.ln_1.*", "blocks.#.norm1.*"},
    {"transformer.resblocks.#.attn.in_proj_weight", "blocks.#.attn.qkv.weight"},
    {"transformer.resblocks.#.attn.in_proj_bias", "blocks.#.attn.qkv.bias"},
    {"transformer.resblocks.#.attn.out_proj.*", "blocks.#.attn.proj.*"},
    {"transformer.resblocks.#.ls_1.gamma", "blocks.#.ls1.gamma"},
    {"transformer.resblocks.#.ln_2.*", "blocks.#.norm2.*"},
    {"transformer.resblocks.#.mlp.c_fc.*", "blocks.#.mlp.fc1.*"},
    {"transformer.resblocks.#.mlp.c_proj.*", "blocks.#.mlp.fc2.*"},
    {"transformer.resblocks.#.ls_2.gamma", "blocks.#.ls2.gamma"},
    {"ln_post.*", "norm.*"},
    {"proj", "head.weight", transposed},
};

/// CLIP and SigLIP of transformers.
constexpr Rule kHuggingFaceRules[] = {
    {"embeddings.patch_embedding.*", "patch_embed.proj.*"},
    {"embeddings.class_embedding", "cls_token"},
    {"embeddings.position_embedding.weight", "pos_embed"},
    {"pre_layrnorm.*", "norm_pre.*"},  // so spelt in the files
    {"pre_layernorm.*", "norm_pre.*"},
    {"encoder.layers.#.layer_norm1.*", "blocks.#.norm1.*"},
    {"encoder.layers.#.self_attn.q_proj.*", "blocks.#.attn.qkv.*", nullptr, 0},
    {"encoder.layers.#.self_attn.k_proj.*", "blocks.#.attn.qkv.*", nullptr, 1},
    {"encoder.layers.#.self_attn.v_proj.*", "blocks.#.attn.qkv.*", nullptr, 2},
    {"encoder.layers.#.self_attn.out_proj.*", "blocks.#.attn.proj.*"},
    {"encoder.layers.#.layer_norm2.*", "blocks.#.norm2.*"},
    {"encoder.layers.#.mlp.*", "blocks.#.mlp.*"},
    {"post_layernorm.*", "norm.*"},

    {"head.probe", "attn_pool.latent"},
    {"head.attention.in_proj_weight", "attn_pool.q.weight", first_third_of_rows},
    {"head.attention.in_proj_weight", "attn_pool.kv.weight", rows_after_first_third},
    {"head.attention.in_proj_bias", "attn_pool.q.bias", first_third_of_rows},
    {"head.attention.in_proj_bias", "attn_pool.kv.bias", rows_after_first_third},
    {"head.attention.out_proj.*", "attn_pool.proj.*"},
    {"head.layernorm.*", "attn_pool.norm.*"},
    {"head.mlp.*", "attn_pool.mlp.*"},

    {"visual_projection.weight", "head.weight"},
    {"classifier.*", "head.*"},
};

}  // namespace

Layout openai_clip_layout() {
  return {.name = "OpenAI CLIP",
          .anchor = "class_embedding",
          .inner_prefixes = {},
          .rules = kOpenAiRules,
          .norm_eps = 1e-5f,
          .activation = Activation::kQuickGelu,
          .crop_pct = 1.0,
          .statistics = "clip"};
}

Layout hugging_face_clip_layout() {
  return {.name = "Hugging Face CLIP",
          .anchor = "embeddings.patch_embedding.weight",
          .inner_prefixes = {"vision_model."},
          .rules = kHuggingFaceRules,
          .norm_eps = 1e-5f,
          .activation = Activation::kQuickGelu,
          .crop_pct = 1.0,
          .statistics = "clip"};
}

}  // namespace vit::weights
