#include "weights/layouts/tables.h"

namespace vit::weights {
namespace {

constexpr Rule kRules[] = {
    {"conv_proj.*", "patch_embed.proj.*"},
    {"class_token", "cls_token"},
    {"encoder.pos_embedding", "pos_embed"},
    {"encoder.layers.encoder_layer_#.ln_1.*", "blocks.#.norm1.*"},
    {"encoder.layers.encoder_layer_#.self_attention.in_proj_weight", "blocks.#.attn.qkv.weight"},
    {"encoder.layers.encoder_layer_#.self_attention.in_proj_bias", "blocks.#.attn.qkv.bias"},
    {"encoder.layers.encoder_layer_#.self_attention.out_proj.*", "blocks.#.attn.proj.*"},
    {"encoder.layers.encoder_layer_#.ln_2.*", "blocks.#.norm2.*"},
    {"encoder.layers.encoder_layer_#.mlp.0.*", "blocks.#.mlp.fc1.*"},
    {"encoder.layers.encoder_layer_#.mlp.3.*", "blocks.#.mlp.fc2.*"},
    {"encoder.layers.encoder_layer_#.mlp.linear_1.*", "blocks.#.mlp.fc1.*"},  // until 0.14
    {"encoder.layers.encoder_layer_#.mlp.linear_2.*", "blocks.#.mlp.fc2.*"},
    {"encoder.ln.*", "norm.*"},
    {"heads.pre_logits.*", "pre_logits.*"},
    {"heads.head.*", "head.*"},
};

}  // namespace

Layout torchvision_layout() {
  return {.name = "torchvision",
          .anchor = "conv_proj.weight",
          .inner_prefixes = {},
          .rules = kRules,
          .crop_pct = 0.875,  // 256 to 224
          .interpolation = "bilinear",
          .statistics = "imagenet"};
}

}  // namespace vit::weights
