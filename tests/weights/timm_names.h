/// Tensors of the model's names under the names that timm saves them with.
#pragma once

#include <cmath>
#include <string>

#include "tests/weights/truth.h"
#include "weights/known/architectures.h"

namespace vit::weights::test {

/// What timm would save for this block, made of the canonical tensors of `truth`.
inline void add_parallel(RawMap& raw, const RawMap& truth, const std::string& block,
                         bool differential) {
  const auto take = [&](const std::string& name) { return truth.at(block + name); };
  raw[block + "in_norm.weight"] = take("norm1.weight");
  if (truth.contains(block + "norm1.bias")) raw[block + "in_norm.bias"] = take("norm1.bias");
  raw[block + "in_proj.weight"] = stacked({take("mlp.fc1.weight"), take("attn.qkv.weight")});
  if (truth.contains(block + "attn.qkv.bias"))
    raw[block + "in_proj.bias"] = stacked({take("mlp.fc1.bias"), take("attn.qkv.bias")});
  else
    raw[block + "mlp_bias"] = take("mlp.fc1.bias");
  if (truth.contains(block + "ls1.gamma")) raw[block + "ls.gamma"] = take("ls1.gamma");
  for (const std::string inner : {"q_norm.weight", "k_norm.weight", "sub_norm.weight", "lambda_q1",
                                  "lambda_k1", "lambda_q2", "lambda_k2"})
    if (truth.contains(block + "attn." + inner)) raw[block + inner] = take("attn." + inner);
  if (!differential) {
    for (const std::string suffix : {"weight", "bias"}) {
      raw[block + "attn_out_proj." + suffix] = take("attn.proj." + suffix);
      raw[block + "mlp_out_proj." + suffix] = take("mlp.fc2." + suffix);
    }
  } else {  // one projection of both side by side
    raw[block + "out_proj.weight"] =
        turned(stacked({turned(take("attn.proj.weight")), turned(take("mlp.fc2.weight"))}));
    raw[block + "out_proj.bias"] = take("attn.proj.bias");
  }
}

/// "a.fc1.weight" to "a.fc1_g.weight" and "a.fc1_x.weight".
inline void add_split_gate(RawMap& raw, const std::string& name, const Raw& tensor) {
  const size_t at = name.find("fc1.") + 3, half = tensor.shape[0] / 2;
  raw[name.substr(0, at) + "_g" + name.substr(at)] = rows_of(tensor, 0, half);
  raw[name.substr(0, at) + "_x" + name.substr(at)] = rows_of(tensor, half, half);
}

/// [D, 3, P, P] to [D, P·P·3], row, column, channel.
inline Raw channels_last(const Raw& raw) {
  const size_t width = raw.shape[0], area = raw.shape[2] * raw.shape[3];
  Raw result{{width, 3 * area}, std::vector<float>(raw.values.size())};
  for (size_t d = 0; d < width; ++d)
    for (size_t channel = 0; channel < 3; ++channel)
      for (size_t pixel = 0; pixel < area; ++pixel)
        result.values[(d * area + pixel) * 3 + channel] =
            raw.values[(d * 3 + channel) * area + pixel];
  return result;
}

/// "a.kv.bias" to "a.k.bias" and "a.v.bias".
inline RawMap with_split_kv(const std::string& name, const Raw& tensor) {
  const size_t at = name.find("attn.kv.") + 5, half = tensor.shape[0] / 2;
  return {{name.substr(0, at) + "k" + name.substr(at + 2), rows_of(tensor, 0, half)},
          {name.substr(0, at) + "v" + name.substr(at + 2), rows_of(tensor, half, half)}};
}

/// Queries, keys and values apart, or gate and value apart, where the architecture has them so.
inline RawMap with_split_parts(const Architecture& known, const ModelConfig& config,
                               const RawMap& truth) {
  const auto says = [&](const char* name, const char* value) {
    const auto found = known.arguments.find(name);
    return found != known.arguments.end() && found->second == value;
  };
  const bool eva_split = known.kind == TimmClass::kEva &&
                         (says("scale_mlp", "true") || known.arguments.contains("swiglu_align_to"));
  const bool split_gate = says("mlp_layer", "SwiGLU") || (config.encoder.gated_mlp && eva_split);
  RawMap raw;
  for (const auto& [name, tensor] : truth) {
    if (split_gate && name.find(".mlp.fc1.") != std::string::npos)
      add_split_gate(raw, name, tensor);
    else if (name.ends_with("attn.kv.weight") || name.ends_with("attn.kv.bias"))
      raw.merge(with_split_kv(name, tensor));
    else if (config.embedding.conv_stem && name == "patch_embed.proj.weight")
      raw["patch_embed.backbone.2.conv.weight"] = reshaped(tensor, {tensor.shape[0], 192, 2, 2});
    else if (known.kind == TimmClass::kNaFlex && name == "patch_embed.proj.weight")
      raw[name] = channels_last(tensor);
    else
      raw[name] = tensor;
  }
  if (!says("qkv_fused", "false")) return raw;
  return renamed(with_split_qkv(raw, "attn.q_proj", "attn.k_proj", "attn.v_proj"),
                 {{"attn\\.([qv])_bias", "attn.$1_proj.bias"}});
}

inline RawMap timm_names(const Architecture& known, const ModelConfig& config,
                         const RawMap& truth) {
  RawMap raw = with_split_parts(known, config, truth);
  if (config.encoder.block == BlockKind::kParallel) {
    std::erase_if(raw, [](const auto& entry) { return entry.first.starts_with("blocks."); });
    for (size_t i = 0; i < config.encoder.depth; ++i)
      add_parallel(raw, truth, "blocks." + std::to_string(i) + ".",
                   config.encoder.attention == AttentionKind::kDifferential);
  }
  Renames renames{{"branches\\.(\\d)\\.norm1", "attns.$1.norm"},
                  {"branches\\.(\\d)\\.attn\\.", "attns.$1.attn."},
                  {"branches\\.(\\d)\\.ls1", "attns.$1.ls"},
                  {"branches\\.(\\d)\\.norm2", "ffns.$1.norm"},
                  {"branches\\.(\\d)\\.mlp\\.", "ffns.$1.mlp."},
                  {"branches\\.(\\d)\\.ls2", "ffns.$1.ls"}};
  const auto add = [&](const Renames& more) {
    renames.insert(renames.end(), more.begin(), more.end());
  };
  const bool gammas = known.kind == TimmClass::kEva || known.kind == TimmClass::kBeit ||
                      known.kind == TimmClass::kCait;
  if (gammas) add({{"ls([12])\\.gamma", "gamma_$1"}});
  if (known.kind == TimmClass::kBeit) add({{"rel_pos\\.table", "relative_position_bias_table"}});
  if (known.kind == TimmClass::kCait) add({{"^class_blocks", "blocks_token_only"}});
  if (known.kind == TimmClass::kRelPos) add({{"^rel_pos", "shared_rel_pos"}});
  if (config.embedding.conv_stem)
    add({{"^patch_embed\\.proj", "patch_embed.backbone.2.conv"},
         {"^patch_embed\\.stem\\.(\\d)\\.weight", "patch_embed.backbone.$1.conv.weight"},
         {"norm\\.mean", "norm.running_mean"},
         {"norm\\.variance", "norm.running_var"},
         {"^patch_embed\\.stem\\.(\\d)\\.norm", "patch_embed.backbone.$1.bn"}});
  if (known.kind == TimmClass::kNaFlex)
    add({{"^patch_embed\\.proj", "embeds.proj"},
         {"^(pos_embed.*|cls_token|reg_token)$", "embeds.$1"}});
  return renamed(raw, renames);
}

}  // namespace vit::weights::test
