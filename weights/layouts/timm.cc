#include "vit/base/error.h"
#include "weights/layouts/tables.h"
#include "weights/layouts/views.h"

namespace vit::weights {
namespace {

/// Parallel blocks (ViT-22B) project once: rows of the MLP first, then q, k and v.
size_t mlp_rows(const Tensor& in_proj, size_t width) {
  if (in_proj.shape.empty() || in_proj.shape[0] <= 3 * width)
    fail("has shape ", to_string(in_proj.shape), ", expected more than 3 x ", width, " rows");
  return in_proj.shape[0] - 3 * width;
}

Weight mlp_of_in_proj(const Tensor& tensor, size_t width) {
  return sliced(tensor, 0, 0, mlp_rows(tensor, width));
}

Weight qkv_of_in_proj(const Tensor& tensor, size_t width) {
  return sliced(tensor, 0, mlp_rows(tensor, width), 3 * width);
}

/// The fused output projection reads the attention's output first, then the MLP's.
size_t fused_columns(const Tensor& out_proj, size_t width) {
  if (out_proj.shape.size() != 2 || out_proj.shape[1] <= width)
    fail("has shape ", to_string(out_proj.shape), ", expected more than ", width, " columns");
  return out_proj.shape[1];
}

Weight attention_of_out_proj(const Tensor& tensor, size_t width) {
  fused_columns(tensor, width);
  return sliced(tensor, 1, 0, width);
}

Weight mlp_of_out_proj(const Tensor& tensor, size_t width) {
  return sliced(tensor, 1, width, fused_columns(tensor, width) - width);
}

constexpr Rule kRules[] = {
    {"patch_embed.proj*", "patch_embed.proj*"},
    {"patch_embed.norm*", "patch_embed.norm*"},
    {"cls_token", "cls_token"},
    {"dist_token", "dist_token"},
    {"reg_token", "reg_token"},
    {"register_tokens", "reg_token"},  // DINOv2
    {"pos_embed", "pos_embed"},
    {"norm_pre.*", "norm_pre.*"},

    {"blocks.#.norm1.*", "blocks.#.norm1.*"},
    {"blocks.#.attn.*", "blocks.#.attn.*"},
    {"blocks.#.ls1.gamma", "blocks.#.ls1.gamma"},
    {"blocks.#.gamma_1", "blocks.#.ls1.gamma"},  // DeiT-III
    {"blocks.#.norm2.*", "blocks.#.norm2.*"},
    {"blocks.#.mlp.fc1.*", "blocks.#.mlp.fc1.*"},
    {"blocks.#.mlp.fc1_g.*", "blocks.#.mlp.fc1.*", nullptr, 0},  // SwiGLU
    {"blocks.#.mlp.fc1_x.*", "blocks.#.mlp.fc1.*", nullptr, 1},
    {"blocks.#.mlp.w12.*", "blocks.#.mlp.fc1.*"},  // DINOv2 giant
    {"blocks.#.mlp.norm.*", "blocks.#.mlp.norm.*"},
    {"blocks.#.mlp.fc2.*", "blocks.#.mlp.fc2.*"},
    {"blocks.#.mlp.w3.*", "blocks.#.mlp.fc2.*"},
    {"blocks.#.ls2.gamma", "blocks.#.ls2.gamma"},
    {"blocks.#.gamma_2", "blocks.#.ls2.gamma"},

    // Several attentions, then several MLPs, side by side (`18x2`).
    {"blocks.#.attns.#.norm.*", "blocks.#.branches.#.norm1.*"},
    {"blocks.#.attns.#.attn.*", "blocks.#.branches.#.attn.*"},
    {"blocks.#.attns.#.ls.gamma", "blocks.#.branches.#.ls1.gamma"},
    {"blocks.#.ffns.#.norm.*", "blocks.#.branches.#.norm2.*"},
    {"blocks.#.ffns.#.mlp.*", "blocks.#.branches.#.mlp.*"},
    {"blocks.#.ffns.#.ls.gamma", "blocks.#.branches.#.ls2.gamma"},

    // Attention and MLP side by side (`xp`), and its differential sister.
    {"blocks.#.in_norm.*", "blocks.#.norm1.*"},
    {"blocks.#.in_proj.*", "blocks.#.mlp.fc1.*", mlp_of_in_proj},
    {"blocks.#.in_proj.*", "blocks.#.attn.qkv.*", qkv_of_in_proj},
    {"blocks.#.mlp_bias", "blocks.#.mlp.fc1.bias"},
    {"blocks.#.q_norm.*", "blocks.#.attn.q_norm.*"},
    {"blocks.#.k_norm.*", "blocks.#.attn.k_norm.*"},
    {"blocks.#.sub_norm.*", "blocks.#.attn.sub_norm.*"},
    {"blocks.#.lambda_*", "blocks.#.attn.lambda_*"},
    {"blocks.#.attn_out_proj.*", "blocks.#.attn.proj.*"},
    {"blocks.#.mlp_out_proj.*", "blocks.#.mlp.fc2.*"},
    {"blocks.#.out_proj.weight", "blocks.#.attn.proj.weight", attention_of_out_proj},
    {"blocks.#.out_proj.weight", "blocks.#.mlp.fc2.weight", mlp_of_out_proj},
    {"blocks.#.out_proj.bias", "blocks.#.attn.proj.bias"},
    {"blocks.#.ls.gamma", "blocks.#.ls1.gamma"},

    {"norm.*", "norm.*"},
    {"fc_norm.*", "fc_norm.*"},
    {"attn_pool.*", "attn_pool.*"},
    {"pre_logits.fc.*", "pre_logits.*"},
    {"head.weight", "head.weight"},
    {"head.bias", "head.bias"},
    {"head_dist.*", "head_dist.*"},
    {"head.proj.weight", "head.weight"},  // OpenCLIP, beside its `trunk.`
};

}  // namespace

Layout timm_layout() {
  return {.name = "timm",
          .anchor = "patch_embed.proj.weight",
          .inner_prefixes = {"trunk."},
          .rules = kRules};
}

}  // namespace vit::weights
