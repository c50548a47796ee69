#include "vit/base/error.h"
#include "weights/known/timm_arguments.h"
#include "weights/known/timm_families.h"

namespace vit::weights {
namespace {

/// Arguments of parts that no published model has.
void refuse_unknown_parts(Taker& take) {
  take.expect("embed_proj_type", "linear");
  take.expect("patchify_channels_last", "true");
  take.expect("pos_embed_use_grid_sample", "false");
  take.expect("attn_type", "standard");
  take.expect("attn_gated", "false");
  take.expect("rope_type", "");
  for (const auto* none : {"input_norm_layer", "embed_norm_layer", "block_fn", "mlp_layer",
                           "attn_layer", "rope_ref_feat_shape", "rope_mrope_section"})
    if (const auto value = take.text(none)) take.refuse(none, *value, "none");
  // Without rotary positions these mean nothing; the last ones concern how timm computes.
  for (const auto* ignored :
       {"rope_temperature", "rope_grid_offset", "rope_grid_indexing", "rope_rotate_half",
        "use_key_only_attn_mask", "qkv_fused", "enable_patch_interpolator"})
    take.text(ignored);
}

/// Added to the patches alone. The stored grid is the table's own, whatever the image.
void take_positions(Taker& take, ModelConfig& c) {
  const std::string kind = take.says_none("pos_embed") ? "" : "learned";
  const std::string positions = take.text("pos_embed").value_or(kind);
  if (positions == "learned" || positions == "learn")
    c.embedding.positions = PositionKind::kLearned;
  else if (positions == "factorized")
    c.embedding.positions = PositionKind::kFactorized;
  else if (positions.empty())
    c.embedding.positions = PositionKind::kNone;
  else
    take.refuse("pos_embed", positions, "learned or factorized");
  c.embedding.positions_cover_prefix = false;
  c.embedding.positions_keep_aspect = take.flag("pos_embed_ar_preserving").value_or(false);

  constexpr std::pair<size_t, size_t> kUsualGrid{16, 16}, kOfTheImage{0, 0};
  const bool by_image = take.says_none("pos_embed_grid_size");
  const auto [rows, cols] =
      take.pair("pos_embed_grid_size").value_or(by_image ? kOfTheImage : kUsualGrid);
  c.embedding.position_grid = {rows, cols};
  const std::string mode = take.text("pos_embed_interp_mode").value_or("bicubic");
  if (mode == "bicubic")
    c.embedding.position_resampling = PositionResampling::kBicubicAntialias;
  else if (mode == "bilinear")
    c.embedding.position_resampling = PositionResampling::kBilinearAntialias;
  else
    take.refuse("pos_embed_interp_mode", mode, "bicubic or bilinear");
}

void take_blocks(Taker& take, ModelConfig& c) {
  take_block_parts(take, "scale_attn_inner_norm", c);
  c.encoder.activation = activation_named(take.text("act_layer").value_or("gelu"), take.where());
  take.expect("swiglu_mlp", "false");
}

}  // namespace

void take_naflex(Taker& take, ModelConfig& c) {
  refuse_unknown_parts(take);
  take_image(take, c);
  c.embedding.norm_before_blocks = take.flag("pre_norm").value_or(false);
  c.embedding.patch_bias = !c.embedding.norm_before_blocks;
  take_prefix(take, take.flag("class_token").value_or(false), "reg_tokens", c);
  take_positions(take, c);
  take_blocks(take, c);
  const double ratio = take.number("mlp_ratio").value_or(4.0);
  c.encoder.mlp_width = times_ratio(c.encoder.width, ratio);

  const std::string pool = take_pooling(take, "map", c);
  c.head.pool_prefix = take.flag("pool_include_prefix").value_or(false);
  take_attention_pool(take, ratio, c);
  // Where nothing says which, mean pooling has a norm before and one after it.
  const bool norm = take.flag("final_norm").value_or(true);
  const auto after_pooling = take.flag("fc_norm");
  c.head.final_norm = norm && !after_pooling.value_or(false);
  c.head.pooled_norm = norm && after_pooling.value_or(pool == "avg");
}

}  // namespace vit::weights
