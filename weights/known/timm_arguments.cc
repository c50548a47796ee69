#include "weights/known/timm_arguments.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <utility>

#include "vit/base/error.h"
#include "vit/base/text.h"
#include "weights/known/taker.h"
#include "weights/known/timm_families.h"

namespace vit::weights {
namespace {

void take_tokens(Taker& take, bool distilled, ModelConfig& c) {
  take_image(take, c);
  c.embedding.norm_before_blocks = take.flag("pre_norm").value_or(false);
  c.embedding.patch_bias = !c.embedding.norm_before_blocks;
  take_prefix(take, take.flag("class_token").value_or(true), "reg_tokens", c);
  if (distilled)
    c.embedding.prefix.insert(c.embedding.prefix.begin() + (c.embedding.prefix.empty() ? 0 : 1),
                              PrefixToken::kDistillation);

  const bool no_positions = take.says_none("pos_embed");
  const std::string positions = take.text("pos_embed").value_or(no_positions ? "" : "learn");
  if (positions != "learn" && !positions.empty()) take.refuse("pos_embed", positions, "learn");
  c.embedding.positions = positions.empty() ? PositionKind::kNone : PositionKind::kLearned;
  c.embedding.positions_cover_prefix = !take.flag("no_embed_class").value_or(false);
  take.expect("embed_layer", "PatchEmbed");
  const auto backbone = take.text("backbone");  // of a hybrid; our name for MobileCLIP's stem
  if (backbone && *backbone != "conv_stem") take.refuse("backbone", *backbone, "conv_stem");
  c.embedding.conv_stem = backbone.has_value();
}

void take_block(Taker& take, ModelConfig& c) {
  const std::string block = take.text("block_fn").value_or("Block");
  const std::string attention = lower(take.text("attn_layer").value_or(""));
  const bool differential = attention.starts_with("diff");
  if (!attention.empty() && !differential && attention != "attn" && attention != "attention")
    take.refuse("attn_layer", attention, "attn or diff");
  if (differential) c.encoder.attention = AttentionKind::kDifferential;

  if (block == "ResPostBlock") {
    c.encoder.block = BlockKind::kResidualPostNorm;
    c.encoder.layer_scale = false;  // its norms start at init_values instead
  } else if (block == "ParallelScalingBlock" || block == "DiffParallelScalingBlock") {
    c.encoder.block = BlockKind::kParallel;
    c.encoder.attention =
        block.starts_with("Diff") ? AttentionKind::kDifferential : AttentionKind::kStandard;
  } else if (block == "ParallelThingsBlock") {
    c.encoder.branches = 2;
  } else if (block != "Block") {
    take.refuse("block_fn", block,
                "Block, ResPostBlock, ParallelScalingBlock, DiffParallelScalingBlock or "
                "ParallelThingsBlock");
  }
}

void take_mlp(Taker& take, ModelConfig& c) {
  const size_t hidden = times_ratio(c.encoder.width, take.number("mlp_ratio").value_or(4.0));
  const std::string layer = take.text("mlp_layer").value_or("Mlp");
  c.encoder.activation = activation_named(take.text("act_layer").value_or("gelu"), take.where());
  c.encoder.gated_mlp = layer.starts_with("SwiGLU") || layer.starts_with("GluMlp");
  if (layer != "Mlp" && layer != "SwiGLU" && layer != "SwiGLUPacked" &&
      layer != "GluMlp(act_layer=SiLU, gate_last=False)")
    take.refuse("mlp_layer", layer, "Mlp, SwiGLU or SwiGLUPacked");
  // The packed form counts gate and value together. Parallel blocks ignore the argument.
  c.encoder.mlp_width = c.encoder.gated_mlp && layer != "SwiGLU" ? hidden / 2 : hidden;
  if (c.encoder.block == BlockKind::kParallel) {
    c.encoder.gated_mlp = false;
    c.encoder.mlp_width = hidden;
  }
}

void take_encoder(Taker& take, ModelConfig& c) {
  take_block_parts(take, "scale_attn_norm", c);

  const auto patch_norm = take_norm(take, "embed_norm_layer");
  c.embedding.patch_norm = patch_norm.has_value();
  if (patch_norm && (patch_norm->kind != c.encoder.norm || patch_norm->eps != c.encoder.norm_eps))
    fail_at(take.where(), "the norm of the patches differs from the norm of the blocks");
  take_block(take, c);
  take_mlp(take, c);
}

void take_head(Taker& take, bool distilled, ModelConfig& c) {
  const std::string pool = take_pooling(take, "token", c);
  c.head.pool_prefix = take.flag("pool_include_prefix").value_or(false);
  const bool averaged = pool == "avg" || pool == "avgmax" || pool == "max";
  const bool after_pooling = take.flag("fc_norm").value_or(averaged);
  const bool norm = take.flag("final_norm").value_or(true);
  c.head.final_norm = norm && !after_pooling;
  c.head.pooled_norm = norm && after_pooling;
  c.head.distilled_head = distilled;
}

void take_plain(Taker& take, bool distilled, ModelConfig& c) {
  take_tokens(take, distilled, c);
  take_encoder(take, c);
  take_head(take, distilled, c);
}

}  // namespace

ModelConfig config_from_arguments(const Arguments& arguments, TimmClass kind,
                                  const std::string& where) {
  Taker take(arguments, where);
  ModelConfig config;
  config.embedding.position_grid = {};
  switch (kind) {
    case TimmClass::kVisionTransformer:
    case TimmClass::kDistilled:
      take_plain(take, kind == TimmClass::kDistilled, config);
      break;
    case TimmClass::kEva:
      take_eva(take, config);
      break;
    case TimmClass::kBeit:
      take_beit(take, config);
      break;
    case TimmClass::kCait:
      take_cait(take, config);
      break;
    case TimmClass::kRelPos:
      take_relative(take, config);
      break;
    case TimmClass::kNaFlex:
      take_naflex(take, config);
      break;
  }
  take.finish();
  const bool patches = config.embedding.patch_height != 0 && config.embedding.patch_width != 0;
  if (patches && config.embedding.position_grid.count() == 0)
    config.embedding.position_grid = config.embedding.grid();
  validate(config, where);
  return config;
}

Interpolation interpolation_named(std::string_view name, const std::string& where) {
  constexpr std::pair<std::string_view, Interpolation> kNames[] = {
      {"nearest", Interpolation::kNearest},
      {"box", Interpolation::kBox},
      {"bilinear", Interpolation::kBilinear},
      {"bicubic", Interpolation::kBicubic},
      {"lanczos", Interpolation::kLanczos},
      {"random", Interpolation::kBilinear},  // of training; timm evaluates it so
  };
  for (const auto& [known, value] : kNames)
    if (known == name) return value;
  fail_at(where, "unknown interpolation '", name,
          "', expected nearest, box, bilinear, bicubic or lanczos");
}

Activation activation_named(std::string_view name, const std::string& where) {
  constexpr std::pair<std::string_view, Activation> kNames[] = {
      {"gelu", Activation::kGelu},
      {"gelu_python", Activation::kGelu},
      {"gelu_tanh", Activation::kGeluTanh},
      {"gelutanh", Activation::kGeluTanh},
      {"gelu_new", Activation::kGeluTanh},
      {"gelu_fast", Activation::kGeluTanh},
      {"gelu_pytorch_tanh", Activation::kGeluTanh},
      {"quick_gelu", Activation::kQuickGelu},
      {"quickgelu", Activation::kQuickGelu},
      {"relu", Activation::kRelu},
      {"silu", Activation::kSilu},
      {"swish", Activation::kSilu},
  };
  const std::string wanted = lower(name);
  for (const auto& [known, value] : kNames)
    if (known == wanted) return value;
  fail_at(where, "unknown activation '", name,
          "', expected gelu, gelu_tanh, quick_gelu, relu or silu");
}

}  // namespace vit::weights
