#include <cmath>

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

/// NaFlex projects patches as rows of numbers in the order row, column, channel.
Weight patches_by_channel(const Tensor& tensor, size_t) {
  const size_t columns = tensor.shape.size() == 2 ? tensor.shape[1] : 0;
  const auto side = static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(columns) / 3)));
  if (columns == 0 || 3 * side * side != columns)
    fail("has shape ", to_string(tensor.shape), ", expected 3 times a square number of columns");
  const size_t step = tensor.strides[1];
  return Tensor{tensor.dtype,
                {tensor.shape[0], 3, side, side},
                {tensor.strides[0], step, 3 * side * step, 3 * step},
                tensor.data};
}

/// The last convolution of a stem reads 2x2 places with 192 channels, as many numbers as a patch
/// has colour values: its kernel gets the shape of the patch kernel.
Weight kernel_behind_stem(const Tensor& tensor, size_t) {
  constexpr size_t kPatch = 16;
  const Shape expected{tensor.shape.empty() ? 0 : tensor.shape[0], 3 * kPatch * kPatch / 4, 2, 2};
  if (tensor.shape != expected)
    fail("has shape ", to_string(tensor.shape), ", expected ", to_string(expected));
  return Weight(tensor).reshaped({tensor.shape[0], 3, kPatch, kPatch});
}

constexpr Rule kRules[] = {
    {"patch_embed.proj*", "patch_embed.proj*"},
    {"patch_embed.backbone.0.conv.weight", "patch_embed.stem.0.weight"},  // MobileCLIP-B
    {"patch_embed.backbone.0.bn.weight", "patch_embed.stem.0.norm.weight"},
    {"patch_embed.backbone.0.bn.bias", "patch_embed.stem.0.norm.bias"},
    {"patch_embed.backbone.0.bn.running_mean", "patch_embed.stem.0.norm.mean"},
    {"patch_embed.backbone.0.bn.running_var", "patch_embed.stem.0.norm.variance"},
    {"patch_embed.backbone.1.conv.weight", "patch_embed.stem.1.weight"},
    {"patch_embed.backbone.1.bn.weight", "patch_embed.stem.1.norm.weight"},
    {"patch_embed.backbone.1.bn.bias", "patch_embed.stem.1.norm.bias"},
    {"patch_embed.backbone.1.bn.running_mean", "patch_embed.stem.1.norm.mean"},
    {"patch_embed.backbone.1.bn.running_var", "patch_embed.stem.1.norm.variance"},
    {"patch_embed.backbone.2.conv.weight", "patch_embed.proj.weight", kernel_behind_stem},
    {"patch_embed.backbone.2.conv.bias", "patch_embed.proj.bias"},
    {"patch_embed.norm*", "patch_embed.norm*"},
    {"cls_token", "cls_token"},
    {"dist_token", "dist_token"},
    {"reg_token", "reg_token"},
    {"register_tokens", "reg_token"},  // DINOv2
    {"pos_embed", "pos_embed"},
    {"norm_pre.*", "norm_pre.*"},
    {"embeds.proj.weight", "patch_embed.proj.weight", patches_by_channel},  // NaFlex
    {"embeds.proj.bias", "patch_embed.proj.bias"},
    {"embeds.cls_token", "cls_token"},
    {"embeds.reg_token", "reg_token"},
    {"embeds.pos_embed", "pos_embed"},
    {"embeds.pos_embed_y", "pos_embed_y"},
    {"embeds.pos_embed_x", "pos_embed_x"},

    // Positions that all blocks share: RoPE-ViT mixed, BEiT, srelpos.
    {"rope.freqs", "rope.freqs"},
    {"rel_pos_bias.relative_position_bias_table", "rel_pos.table"},
    {"shared_rel_pos.relative_position_bias_table", "rel_pos.table"},
    {"shared_rel_pos.mlp.*", "rel_pos.mlp.*"},

    {"blocks.#.norm1.*", "blocks.#.norm1.*"},
    {"blocks.#.attn.qkv.*", "blocks.#.attn.qkv.*"},
    {"blocks.#.attn.q_bias", "blocks.#.attn.q_bias"},  // EVA, BEiT: keys have no bias
    {"blocks.#.attn.v_bias", "blocks.#.attn.v_bias"},
    {"blocks.#.attn.q_proj.weight", "blocks.#.attn.qkv.weight", nullptr, 0},  // EVA-02 base, large
    {"blocks.#.attn.k_proj.weight", "blocks.#.attn.qkv.weight", nullptr, 1},
    {"blocks.#.attn.v_proj.weight", "blocks.#.attn.qkv.weight", nullptr, 2},
    {"blocks.#.attn.q_proj.bias", "blocks.#.attn.q_bias"},
    {"blocks.#.attn.v_proj.bias", "blocks.#.attn.v_bias"},
    {"blocks.#.attn.q_norm.*", "blocks.#.attn.q_norm.*"},
    {"blocks.#.attn.k_norm.*", "blocks.#.attn.k_norm.*"},
    {"blocks.#.attn.sub_norm.*", "blocks.#.attn.sub_norm.*"},
    {"blocks.#.attn.lambda_*", "blocks.#.attn.lambda_*"},
    {"blocks.#.attn.relative_position_bias_table", "blocks.#.attn.rel_pos.table"},  // BEiT
    {"blocks.#.attn.rel_pos.relative_position_bias_table", "blocks.#.attn.rel_pos.table"},
    {"blocks.#.attn.rel_pos.mlp.*", "blocks.#.attn.rel_pos.mlp.*"},
    {"blocks.#.attn.proj_l.*", "blocks.#.attn.proj_l.*"},  // CaiT
    {"blocks.#.attn.proj_w.*", "blocks.#.attn.proj_w.*"},
    {"blocks.#.attn.norm.*", "blocks.#.attn.norm.*"},
    {"blocks.#.attn.proj.*", "blocks.#.attn.proj.*"},
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

    // The class layers of CaiT.
    {"blocks_token_only.#.norm1.*", "class_blocks.#.norm1.*"},
    {"blocks_token_only.#.attn.q.*", "class_blocks.#.attn.q.*"},
    {"blocks_token_only.#.attn.k.*", "class_blocks.#.attn.kv.*", nullptr, 0},
    {"blocks_token_only.#.attn.v.*", "class_blocks.#.attn.kv.*", nullptr, 1},
    {"blocks_token_only.#.attn.proj.*", "class_blocks.#.attn.proj.*"},
    {"blocks_token_only.#.gamma_1", "class_blocks.#.ls1.gamma"},
    {"blocks_token_only.#.norm2.*", "class_blocks.#.norm2.*"},
    {"blocks_token_only.#.mlp.*", "class_blocks.#.mlp.*"},
    {"blocks_token_only.#.gamma_2", "class_blocks.#.ls2.gamma"},

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
          .rules = kRules,
          .family = LayoutFamily::kTimm,
          .named_after_architecture = true,
          .shared_names = true,
          .rotation_invisible = true};
}

Layout conv_stem_layout() {
  Layout layout = timm_layout();
  layout.anchor = "patch_embed.backbone.2.conv.weight";
  layout.statistics = "unit";
  return layout;
}

Layout naflex_layout() {
  return {.name = "timm NaFlex",
          .anchor = "embeds.proj.weight",
          .inner_prefixes = {},
          .rules = kRules,
          .named_after_architecture = true,
          .crop_pct = 1.0,
          .image_size = 384,
          .resamples_table = true,
          .resampling = PositionResampling::kBicubicAntialias};
}

}  // namespace vit::weights
