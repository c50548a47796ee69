#include <algorithm>

#include "weights/layouts/tables.h"

namespace vit::weights {
namespace {

constexpr Rule kBeitRules[] = {
    {"embeddings.patch_embeddings.projection.*", "patch_embed.proj.*"},
    {"embeddings.cls_token", "cls_token"},
    {"embeddings.position_embeddings", "pos_embed"},

    // As saved until transformers 4, and data2vec-vision to this day.
    {"encoder.layer.#.layernorm_before.*", "blocks.#.norm1.*"},
    {"encoder.layer.#.attention.attention.query.weight", "blocks.#.attn.qkv.weight", nullptr, 0},
    {"encoder.layer.#.attention.attention.key.weight", "blocks.#.attn.qkv.weight", nullptr, 1},
    {"encoder.layer.#.attention.attention.value.weight", "blocks.#.attn.qkv.weight", nullptr, 2},
    {"encoder.layer.#.attention.attention.query.bias", "blocks.#.attn.q_bias"},
    {"encoder.layer.#.attention.attention.value.bias", "blocks.#.attn.v_bias"},
    {"encoder.layer.#.attention.attention.relative_position_bias.relative_position_bias_table",
     "blocks.#.attn.rel_pos.table"},
    {"encoder.layer.#.attention.output.dense.*", "blocks.#.attn.proj.*"},
    {"encoder.layer.#.lambda_1", "blocks.#.ls1.gamma"},
    {"encoder.layer.#.layernorm_after.*", "blocks.#.norm2.*"},
    {"encoder.layer.#.intermediate.dense.*", "blocks.#.mlp.fc1.*"},
    {"encoder.layer.#.output.dense.*", "blocks.#.mlp.fc2.*"},
    {"encoder.layer.#.lambda_2", "blocks.#.ls2.gamma"},
    {"encoder.relative_position_bias.relative_position_bias_table", "rel_pos.table"},

    // Since transformers 5.
    {"layers.#.layernorm_before.*", "blocks.#.norm1.*"},
    {"layers.#.attention.q_proj.weight", "blocks.#.attn.qkv.weight", nullptr, 0},
    {"layers.#.attention.k_proj.weight", "blocks.#.attn.qkv.weight", nullptr, 1},
    {"layers.#.attention.v_proj.weight", "blocks.#.attn.qkv.weight", nullptr, 2},
    {"layers.#.attention.q_proj.bias", "blocks.#.attn.q_bias"},
    {"layers.#.attention.v_proj.bias", "blocks.#.attn.v_bias"},
    {"layers.#.attention.relative_position_bias.relative_position_bias_table",
     "blocks.#.attn.rel_pos.table"},
    {"layers.#.relative_position_bias.relative_position_bias_table", "blocks.#.attn.rel_pos.table"},
    {"layers.#.attention.o_proj.*", "blocks.#.attn.proj.*"},
    {"layers.#.lambda_1", "blocks.#.ls1.gamma"},
    {"layers.#.layernorm_after.*", "blocks.#.norm2.*"},
    {"layers.#.mlp.fc1.*", "blocks.#.mlp.fc1.*"},
    {"layers.#.mlp.fc2.*", "blocks.#.mlp.fc2.*"},
    {"layers.#.lambda_2", "blocks.#.ls2.gamma"},
    {"shared_position_bias.relative_position_bias_table", "rel_pos.table"},

    {"layernorm.*", "norm.*"},
    {"pooler.layernorm.*", "fc_norm.*"},
    {"classifier.*", "head.*"},
};

constexpr Rule kDinoRules[] = {
    {"embeddings.patch_embeddings.*", "patch_embed.proj.*"},
    {"embeddings.cls_token", "cls_token"},
    {"embeddings.register_tokens", "reg_token"},
    {"layer.#.norm1.*", "blocks.#.norm1.*"},
    {"layer.#.attention.q_proj.weight", "blocks.#.attn.qkv.weight", nullptr, 0},
    {"layer.#.attention.k_proj.weight", "blocks.#.attn.qkv.weight", nullptr, 1},
    {"layer.#.attention.v_proj.weight", "blocks.#.attn.qkv.weight", nullptr, 2},
    {"layer.#.attention.q_proj.bias", "blocks.#.attn.q_bias"},
    {"layer.#.attention.v_proj.bias", "blocks.#.attn.v_bias"},
    {"layer.#.attention.o_proj.*", "blocks.#.attn.proj.*"},
    {"layer.#.layer_scale1.lambda1", "blocks.#.ls1.gamma"},
    {"layer.#.norm2.*", "blocks.#.norm2.*"},
    {"layer.#.mlp.up_proj.*", "blocks.#.mlp.fc1.*"},
    {"layer.#.mlp.gate_proj.*", "blocks.#.mlp.fc1.*", nullptr, 0},
    {"layer.#.mlp.value_proj.*", "blocks.#.mlp.fc1.*", nullptr, 1},
    {"layer.#.mlp.down_proj.*", "blocks.#.mlp.fc2.*"},
    {"layer.#.layer_scale2.lambda1", "blocks.#.ls2.gamma"},
    {"norm.*", "norm.*"},
};

bool contains(const std::string& name, std::string_view part) {
  return name.find(part) != std::string::npos;
}

/// Of the models whose patch kernel has this name, only BEiT's blocks have these.
bool is_beit(const TensorMap& tensors, const std::string&) {
  return std::ranges::any_of(tensors, [](const auto& entry) {
    return entry.first.ends_with(".lambda_1") ||
           contains(entry.first, "relative_position_bias_table") ||
           contains(entry.first, "beit.embeddings.") ||
           contains(entry.first, "data2vec_vision.embeddings.");
  });
}

/// `up_proj` is the first layer of a plain MLP and the value beside the gate of a gated one. The
/// latter gets a name of its own.
TensorMap tell_values_from_layers(const TensorMap& tensors, const std::string&) {
  constexpr std::string_view kUp = ".mlp.up_proj.", kGate = ".mlp.gate_proj.";
  TensorMap result;
  for (const auto& [name, tensor] : tensors) {
    std::string renamed = name;
    if (const size_t at = name.find(kUp); at != std::string::npos) {
      std::string gate = name;
      gate.replace(at, kUp.size(), kGate);
      if (tensors.contains(gate)) renamed.replace(at, kUp.size(), ".mlp.value_proj.");
    }
    result.emplace(std::move(renamed), tensor);
  }
  return result;
}

}  // namespace

Layout hugging_face_beit_layout() {
  return {.name = "Hugging Face BEiT",
          .anchor = "embeddings.patch_embeddings.projection.weight",
          .inner_prefixes = {"beit.", "data2vec_vision."},
          .rules = kBeitRules,
          .family = LayoutFamily::kHuggingFace,
          .norm_eps = 1e-12f,
          .crop_pct = 1.0,
          .crop_mode = "squash",
          .interpolation = "bilinear",
          .resampling = PositionResampling::kBicubic,
          .applies = is_beit};
}

Layout hugging_face_dinov3_layout() {
  return {.name = "Hugging Face DINOv3",
          .anchor = "embeddings.patch_embeddings.weight",
          .inner_prefixes = {"model."},
          .rules = kDinoRules,
          .family = LayoutFamily::kHuggingFace,
          .norm_eps = 1e-5f,
          .crop_pct = 1.0,
          .crop_mode = "squash",
          .interpolation = "bilinear",
          .statistics = "imagenet",
          .rotary = kDinov3Rotary,
          .prepare = tell_values_from_layers};
}

}  // namespace vit::weights
