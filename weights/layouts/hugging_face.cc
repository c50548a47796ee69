#include "weights/layouts/tables.h"

namespace vit::weights {
namespace {

constexpr Rule kRules[] = {
    {"embeddings.patch_embeddings.projection.*", "patch_embed.proj.*"},
    {"embeddings.cls_token", "cls_token"},
    {"embeddings.distillation_token", "dist_token"},
    {"embeddings.register_tokens", "reg_token"},
    {"embeddings.position_embeddings", "pos_embed"},

    // ViT and DeiT, as saved until transformers 4.
    {"encoder.layer.#.layernorm_before.*", "blocks.#.norm1.*"},
    {"encoder.layer.#.attention.attention.query.*", "blocks.#.attn.qkv.*", nullptr, 0},
    {"encoder.layer.#.attention.attention.key.*", "blocks.#.attn.qkv.*", nullptr, 1},
    {"encoder.layer.#.attention.attention.value.*", "blocks.#.attn.qkv.*", nullptr, 2},
    {"encoder.layer.#.attention.output.dense.*", "blocks.#.attn.proj.*"},
    {"encoder.layer.#.layernorm_after.*", "blocks.#.norm2.*"},
    {"encoder.layer.#.intermediate.dense.*", "blocks.#.mlp.fc1.*"},
    {"encoder.layer.#.output.dense.*", "blocks.#.mlp.fc2.*"},

    // The same since transformers 5.
    {"layers.#.layernorm_before.*", "blocks.#.norm1.*"},
    {"layers.#.attention.q_proj.*", "blocks.#.attn.qkv.*", nullptr, 0},
    {"layers.#.attention.k_proj.*", "blocks.#.attn.qkv.*", nullptr, 1},
    {"layers.#.attention.v_proj.*", "blocks.#.attn.qkv.*", nullptr, 2},
    {"layers.#.attention.o_proj.*", "blocks.#.attn.proj.*"},
    {"layers.#.layernorm_after.*", "blocks.#.norm2.*"},
    {"layers.#.mlp.fc1.*", "blocks.#.mlp.fc1.*"},
    {"layers.#.mlp.fc2.*", "blocks.#.mlp.fc2.*"},

    // DINOv2, with and without registers.
    {"encoder.layer.#.norm1.*", "blocks.#.norm1.*"},
    {"encoder.layer.#.layer_scale1.lambda1", "blocks.#.ls1.gamma"},
    {"encoder.layer.#.norm2.*", "blocks.#.norm2.*"},
    {"encoder.layer.#.mlp.fc1.*", "blocks.#.mlp.fc1.*"},
    {"encoder.layer.#.mlp.fc2.*", "blocks.#.mlp.fc2.*"},
    {"encoder.layer.#.mlp.weights_in.*", "blocks.#.mlp.fc1.*"},
    {"encoder.layer.#.mlp.weights_out.*", "blocks.#.mlp.fc2.*"},
    {"encoder.layer.#.layer_scale2.lambda1", "blocks.#.ls2.gamma"},
    {"layers.#.norm1.*", "blocks.#.norm1.*"},
    {"layers.#.layer_scale1.lambda1", "blocks.#.ls1.gamma"},
    {"layers.#.norm2.*", "blocks.#.norm2.*"},
    {"layers.#.mlp.weights_in.*", "blocks.#.mlp.fc1.*"},
    {"layers.#.mlp.weights_out.*", "blocks.#.mlp.fc2.*"},
    {"layers.#.layer_scale2.lambda1", "blocks.#.ls2.gamma"},

    {"layernorm.*", "norm.*"},
    {"classifier.*", "head.*"},
    {"cls_classifier.*", "head.*"},
    {"distillation_classifier.*", "head_dist.*"},
};

}  // namespace

Layout hugging_face_layout() {
  return {.name = "Hugging Face",
          .anchor = "embeddings.patch_embeddings.projection.weight",
          .inner_prefixes = {"vit.", "deit.", "dinov2.", "dinov2_with_registers."},
          .rules = kRules,
          .family = LayoutFamily::kHuggingFace,
          .shared_names = true,
          .norm_eps = 1e-12f,
          .layer_scale_eps = 1e-6f,  // DINOv2
          .crop_pct = 1.0,
          .crop_mode = "squash",
          .interpolation = "bilinear"};
}

}  // namespace vit::weights
