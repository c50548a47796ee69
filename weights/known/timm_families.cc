#include "weights/known/timm_families.h"

#include "vit/base/error.h"
#include "weights/known/timm_arguments.h"

namespace vit::weights {
namespace {

/// A table of positions, with or without rows for the prefix tokens. timm resamples it so when it
/// loads a checkpoint for another size.
void set_table(bool present, bool covers_prefix, ModelConfig& c) {
  c.embedding.positions = present ? PositionKind::kLearned : PositionKind::kNone;
  c.embedding.positions_cover_prefix = covers_prefix;
  c.embedding.position_resampling = PositionResampling::kBicubicAntialias;
}

/// The norms after the blocks: on all tokens or, with `after_pooling`, on what is pooled.
void set_norms(bool after_pooling, ModelConfig& c) {
  c.head.final_norm = !after_pooling;
  c.head.pooled_norm = after_pooling;
}

void set_gated(bool gated, ModelConfig& c) {
  c.encoder.gated_mlp = gated;
  if (gated) c.encoder.activation = Activation::kSilu;
}

/// EVA and BEiT: queries and values have a bias, keys have none.
void set_query_value_bias(bool bias, ModelConfig& c) {
  c.encoder.qkv_bias = bias;
  c.encoder.key_bias = !bias;
}

/// Patches of the model's own images.
GridSize grid_of(const Taker& take, const ModelConfig& c) {
  if (c.embedding.patch_height == 0 || c.embedding.patch_width == 0)
    take.refuse("patch_size", "0", "at least 1");
  return c.embedding.grid();
}

void take_relative_bias(Taker& take, bool class_token, ModelConfig& c) {
  constexpr size_t kUsualHidden = 128;
  RelativeBiasConfig& bias = c.encoder.relative_bias;
  const std::string type = take.text("rel_pos_type").value_or("mlp");
  const size_t hidden = take.size("rel_pos_dim", 0);
  bias.shared = take.flag("shared_rel_pos").value_or(false);
  bias.per_block = !bias.shared;
  if (type == "bias") {
    bias.kind = RelativeBiasKind::kTable;
    bias.class_rows = class_token;
  } else if (type == "mlp" || type == "mlp_swin") {
    bias.kind = type == "mlp" ? RelativeBiasKind::kLogMlp : RelativeBiasKind::kSwinMlp;
    bias.hidden = hidden == 0 ? kUsualHidden : hidden;
  } else {
    take.refuse("rel_pos_type", type, "mlp, mlp_swin or bias");
  }
  if (bias.kind != RelativeBiasKind::kLogMlp) bias.grid = grid_of(take, c);
}

RotaryKind rotary_kind(Taker& take) {
  const std::string type = take.text("rope_type").value_or("cat");
  const bool used = take.flag("use_rot_pos_emb").value_or(false);
  if (!used || type.empty()) return RotaryKind::kNone;
  if (type == "cat") return RotaryKind::kAxial;
  if (type == "dinov3") return RotaryKind::kNormalized;
  if (type == "mixed") return RotaryKind::kLearned;
  take.refuse("rope_type", type, "cat, dinov3 or mixed");
}

void take_rotary(Taker& take, ModelConfig& c) {
  RotaryConfig rotary;
  rotary.kind = rotary_kind(take);
  rotary.temperature = static_cast<float>(take.number("rope_temperature").value_or(10000.0));
  const double offset = take.number("rope_grid_offset").value_or(0.0);
  const std::string indexing = take.text("rope_grid_indexing").value_or("ij");
  if (indexing != "ij" && indexing != "xy") take.refuse("rope_grid_indexing", indexing, "ij or xy");
  rotary.columns_first = indexing == "xy";
  rotary.split_halves = take.flag("rope_rotate_half").value_or(false);
  const auto reference = take.pair("ref_feat_shape");
  if (rotary.kind == RotaryKind::kAxial) {  // the other kinds know neither
    rotary.offset = static_cast<float>(offset);
    if (reference) rotary.reference = {reference->first, reference->second};
  }
  if (rotary.kind != RotaryKind::kNone) c.encoder.rotary = rotary;
}

/// Returns the ratio of the MLP's width to the model's.
double take_eva_mlp(Taker& take, ModelConfig& c) {
  const double ratio = take.number("mlp_ratio").value_or(4.0);
  const size_t step = take.size("swiglu_align_to", 0);
  c.encoder.mlp_width = times_ratio(c.encoder.width, ratio);
  c.encoder.mlp_norm = take.flag("scale_mlp").value_or(false);
  set_gated(take.flag("swiglu_mlp").value_or(false), c);
  const bool split = c.encoder.mlp_norm || c.encoder.block == BlockKind::kPreNorm;
  if (c.encoder.gated_mlp && split && step != 0)
    c.encoder.mlp_width = (c.encoder.mlp_width + step - 1) / step * step;
  return ratio;
}

void take_eva_blocks(Taker& take, ModelConfig& c) {
  take_sizes(take, c);
  take.flag("qkv_fused");  // one tensor or three; the layout sees which
  const bool bias = take.flag("qkv_bias").value_or(true);
  const std::string type = take.text("attn_type").value_or("eva");
  if (type == "eva")
    set_query_value_bias(bias, c);
  else if (type == "rope")
    c.encoder.qkv_bias = bias;
  else
    take.refuse("attn_type", type, "eva or rope");
  c.encoder.attention_norm = take.flag("scale_attn_inner").value_or(false);
  c.encoder.layer_scale = take.number("init_values").has_value();
  if (take.flag("use_post_norm").value_or(false)) {
    c.encoder.block = BlockKind::kResidualPostNorm;
    c.encoder.layer_scale = false;
  }
  take_rotary(take, c);
}

}  // namespace

void take_eva(Taker& take, ModelConfig& c) {
  take_image(take, c);
  take_prefix(take, take.flag("class_token").value_or(true), "num_reg_tokens", c);
  set_table(take.flag("use_abs_pos_emb").value_or(true),
            !take.flag("no_embed_class").value_or(false), c);
  c.embedding.norm_before_blocks = take.flag("use_pre_transformer_norm").value_or(false);
  c.embedding.patch_bias = !c.embedding.norm_before_blocks;
  take_eva_blocks(take, c);
  const double ratio = take_eva_mlp(take, c);

  const bool averaged = take_pooling(take, "avg", c) == "avg";
  c.head.pool_prefix = c.head.pooling == Pooling::kAttention;
  take_attention_pool(take, ratio, c);
  // Its pool has a plain MLP with another activation than the blocks'.
  if (c.head.pool_prefix && c.encoder.gated_mlp)
    take.refuse("global_pool", "map", "avg or token where swiglu_mlp is true");
  c.head.pooled_norm = take.flag("use_fc_norm").value_or(averaged);
  c.head.final_norm = take.flag("use_post_transformer_norm").value_or(!c.head.pooled_norm);
}

void take_beit(Taker& take, ModelConfig& c) {
  take_image(take, c);
  c.embedding.prefix = {PrefixToken::kClass};
  set_table(take.flag("use_abs_pos_emb").value_or(true), true, c);
  take_sizes(take, c);
  set_query_value_bias(take.flag("qkv_bias").value_or(true), c);
  c.encoder.layer_scale = take.number("init_values").value_or(0.0) != 0.0;
  c.encoder.mlp_width = times_ratio(c.encoder.width, take.number("mlp_ratio").value_or(4.0));
  c.encoder.mlp_norm = take.flag("scale_mlp").value_or(false);
  set_gated(take.flag("swiglu_mlp").value_or(false), c);

  RelativeBiasConfig bias;
  bias.per_block = take.flag("use_rel_pos_bias").value_or(false);
  bias.shared = take.flag("use_shared_rel_pos_bias").value_or(false);
  if (bias.per_block || bias.shared) {
    bias.kind = RelativeBiasKind::kTable;
    bias.class_rows = true;
    bias.grid = grid_of(take, c);
    c.encoder.relative_bias = bias;
  }
  set_norms(take_pooling(take, "avg", c) == "avg", c);
}

void take_cait(Taker& take, ModelConfig& c) {
  take_image(take, c);
  c.embedding.prefix.clear();  // the class token joins after the blocks
  set_table(true, false, c);
  take_sizes(take, c);
  c.encoder.attention = AttentionKind::kTalkingHeads;
  c.encoder.qkv_bias = take.flag("qkv_bias").value_or(true);
  c.encoder.layer_scale = true;
  take.number("init_values");  // where the scales start, for training
  c.encoder.mlp_width = times_ratio(c.encoder.width, take.number("mlp_ratio").value_or(4.0));
  c.encoder.activation = activation_named(take.text("act_layer").value_or("gelu"), take.where());
  c.head.class_layers = take.size("depth_token_only", 2);
  c.head.class_mlp_width =
      times_ratio(c.encoder.width, take.number("mlp_ratio_token_only").value_or(4.0));
  const std::string pool = take_pooling(take, "token", c);
  if (pool != "token") take.refuse("global_pool", pool, "token");
}

void take_relative(Taker& take, ModelConfig& c) {
  take_image(take, c);
  const bool class_token = take.flag("class_token").value_or(false);
  c.embedding.prefix.clear();
  if (class_token) c.embedding.prefix.push_back(PrefixToken::kClass);
  set_table(false, false, c);
  take_sizes(take, c);
  c.encoder.qkv_bias = take.flag("qkv_bias").value_or(true);
  c.encoder.qk_norm = take.flag("qk_norm").value_or(false);
  c.encoder.mlp_width = times_ratio(c.encoder.width, take.number("mlp_ratio").value_or(4.0));
  c.encoder.activation = activation_named(take.text("act_layer").value_or("gelu"), take.where());
  const bool no_scale = take.says_none("init_values");
  c.encoder.layer_scale = take.number("init_values").value_or(no_scale ? 0.0 : 1e-6) != 0.0;
  const std::string block = take.text("block_fn").value_or("RelPosBlock");
  if (block == "ResPostRelPosBlock") {
    c.encoder.block = BlockKind::kResidualPostNorm;
    c.encoder.layer_scale = false;  // its norms start at init_values instead
  } else if (block != "RelPosBlock") {
    take.refuse("block_fn", block, "RelPosBlock or ResPostRelPosBlock");
  }
  take.expect("embed_layer", "PatchEmbed");
  take_relative_bias(take, class_token, c);
  take_pooling(take, "avg", c);
  set_norms(take.flag("fc_norm").value_or(false), c);
}

}  // namespace vit::weights
