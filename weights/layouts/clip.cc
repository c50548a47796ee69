#include "weights/layouts/tables.h"

namespace vit::weights {
namespace {

/// The image tower of OpenAI's and OpenCLIP's files. Its output is the shared embedding.
constexpr Rule kOpenAiRules[] = {
    {"conv1.weight", "patch_embed.proj.weight"},
    {"class_embedding", "cls_token"},
    {"positional_embedding", "pos_embed"},
    {"ln_pre.*", "norm_pre.*"},
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
          .block_rules = kOpenAiBlockRules,
          .norm_eps = 1e-5f,
          .activation = Activation::kQuickGelu,
          .crop_pct = 1.0,
          .statistics = "clip",
          .head_width = 64};  // what OpenAI's loader takes
}

Layout hugging_face_clip_layout() {
  return {.name = "Hugging Face CLIP",
          .anchor = "embeddings.patch_embedding.weight",
          .inner_prefixes = {"vision_model."},
          .rules = kHuggingFaceRules,
          .block_rules = kHuggingFaceClipBlockRules,
          .family = LayoutFamily::kHuggingFace,
          .norm_eps = 1e-5f,
          .activation = Activation::kQuickGelu,
          .crop_pct = 1.0,
          .statistics = "clip"};
}

}  // namespace vit::weights
