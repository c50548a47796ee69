/// Every field of a configuration with its name: one list for writing, reading and reporting.
#pragma once

#include "vit/base/config.h"

namespace vit::weights {

// A visitor has visit(name, field), and visit.unless_usual(name, field, usual = {}) for fields that
// came later. Files hold those only where they differ from what earlier files mean: files of
// earlier versions stay readable, and earlier versions refuse what they cannot run.

template <typename Config, typename Visitor>
void visit_tokens(Config& c, Visitor&& visit) {
  visit("architecture", c.architecture);
  visit("image_height", c.embedding.image_height);
  visit("image_width", c.embedding.image_width);
  visit("patch_height", c.embedding.patch_height);
  visit("patch_width", c.embedding.patch_width);
  visit("channels", c.embedding.channels);
  visit("patch_bias", c.embedding.patch_bias);
  visit("patch_norm", c.embedding.patch_norm);
  visit.unless_usual("conv_stem", c.embedding.conv_stem);
  visit("prefix", c.embedding.prefix);
  visit("positions", c.embedding.positions);
  visit("positions_cover_prefix", c.embedding.positions_cover_prefix);
  visit("position_grid", c.embedding.position_grid);
  visit("position_resampling", c.embedding.position_resampling);
  visit.unless_usual("positions_keep_aspect", c.embedding.positions_keep_aspect);
  visit("norm_before_blocks", c.embedding.norm_before_blocks);
}

template <typename Config, typename Visitor>
void visit_encoder(Config& c, Visitor&& visit) {
  visit("width", c.encoder.width);
  visit("depth", c.encoder.depth);
  visit("heads", c.encoder.heads);
  visit("key_value_heads", c.encoder.key_value_heads);
  visit("mlp_width", c.encoder.mlp_width);
  visit("norm", c.encoder.norm);
  visit("norm_eps", c.encoder.norm_eps);
  visit("block", c.encoder.block);
  visit("branches", c.encoder.branches);
  visit("attention", c.encoder.attention);
  visit("activation", c.encoder.activation);
  visit("gated_mlp", c.encoder.gated_mlp);
  visit("qkv_bias", c.encoder.qkv_bias);
  visit("projection_bias", c.encoder.projection_bias);
  visit("mlp_bias", c.encoder.mlp_bias);
  visit("qk_norm", c.encoder.qk_norm);
  visit("attention_norm", c.encoder.attention_norm);
  visit("mlp_norm", c.encoder.mlp_norm);
  visit("layer_scale", c.encoder.layer_scale);
  visit.unless_usual("key_bias", c.encoder.key_bias, true);
}

template <typename Config, typename Visitor>
void visit_rotary(Config& c, Visitor&& visit) {
  auto& rotary = c.encoder.rotary;
  const RotaryConfig usual;
  visit.unless_usual("rotary", rotary.kind, usual.kind);
  visit.unless_usual("rotary_temperature", rotary.temperature, usual.temperature);
  visit.unless_usual("rotary_offset", rotary.offset, usual.offset);
  visit.unless_usual("rotary_columns_first", rotary.columns_first);
  visit.unless_usual("rotary_split_halves", rotary.split_halves);
  visit.unless_usual("rotary_reference", rotary.reference);
  visit.unless_usual("rotary_stored_periods", rotary.stored_periods);
}

template <typename Config, typename Visitor>
void visit_relative_bias(Config& c, Visitor&& visit) {
  auto& bias = c.encoder.relative_bias;
  visit.unless_usual("relative_bias", bias.kind);
  visit.unless_usual("relative_bias_per_block", bias.per_block, true);
  visit.unless_usual("relative_bias_shared", bias.shared);
  visit.unless_usual("relative_bias_hidden", bias.hidden);
  visit.unless_usual("relative_bias_class_rows", bias.class_rows);
  visit.unless_usual("relative_bias_grid", bias.grid);
  visit.unless_usual("relative_bias_resampling", bias.resampling);
}

template <typename Config, typename Visitor>
void visit_head(Config& c, Visitor&& visit) {
  visit("final_norm", c.head.final_norm);
  visit("pooled_norm", c.head.pooled_norm);
  visit("pooling", c.head.pooling);
  visit("pool_prefix", c.head.pool_prefix);
  visit("distilled_head", c.head.distilled_head);
  visit("pre_logits", c.head.pre_logits);
  visit("classes", c.head.classes);
  visit("head_bias", c.head.head_bias);
  visit("multi_label", c.head.multi_label);
  visit.unless_usual("pre_logits_tanh", c.head.pre_logits_tanh, true);
  visit.unless_usual("pre_logits_bias", c.head.pre_logits_bias, true);
  visit.unless_usual("pooled_layers", c.head.pooled_layers, size_t{1});
  visit.unless_usual("unit_features", c.head.unit_features);
  visit.unless_usual("pool_heads", c.head.pool_heads);
  visit.unless_usual("pool_mlp_width", c.head.pool_mlp_width);
  visit.unless_usual("class_layers", c.head.class_layers);
  visit.unless_usual("class_mlp_width", c.head.class_mlp_width);
}

template <typename Config, typename Visitor>
void visit_config(Config& c, Visitor&& visit) {
  visit_tokens(c, visit);
  visit_encoder(c, visit);
  visit_rotary(c, visit);
  visit_relative_bias(c, visit);
  visit_head(c, visit);
}

}  // namespace vit::weights
