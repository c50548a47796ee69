#include "weights/known/timm_arguments.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <utility>

#include "vit/base/error.h"

namespace vit::weights {
namespace {

/// Of training, or of how timm computes the same thing.
constexpr std::string_view kPassedOver[] = {
    "drop_rate",        "pos_drop_rate",   "patch_drop_rate", "proj_drop_rate", "attn_drop_rate",
    "drop_path_rate",   "weight_init",     "fix_init",        "device",         "dtype",
    "dynamic_img_size", "dynamic_img_pad", "strict_img_size", "features_only",  "scriptable",
    "exportable",       "pretrained",      "checkpoint_path", "cache_dir",
};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// Takes arguments out one by one; what is left at the end was not understood.
class Taker {
 public:
  Taker(const Arguments& arguments, const std::string& where) : left_(arguments), where_(where) {}

  /// Nothing if absent or none.
  /// Said, but to be nothing: None in Python, null in JSON.
  bool says_none(std::string_view name) const {
    const auto found = left_.find(name);
    return found != left_.end() && (lower(found->second) == "none" || found->second == "null");
  }

  std::optional<std::string> text(std::string_view name) {
    const auto found = left_.find(name);
    if (found == left_.end()) return {};
    const bool none = says_none(name);
    std::string value = std::move(found->second);
    left_.erase(found);
    if (none) return {};
    return value;
  }

  size_t size(std::string_view name, size_t otherwise) {
    const auto value = text(name);
    return value ? to_size(name, *value) : otherwise;
  }

  double number(std::string_view name, double otherwise) {
    const auto value = text(name);
    if (!value) return otherwise;
    char* end = nullptr;
    const double number = std::strtod(value->c_str(), &end);
    if (value->empty() || *end != '\0') refuse(name, *value, "a number");
    return number;
  }

  std::optional<bool> flag(std::string_view name) {
    const auto value = text(name);
    if (!value) return {};
    if (lower(*value) == "true") return true;
    if (lower(*value) == "false") return false;
    refuse(name, *value, "true or false");
  }

  /// "224" or "64,96": height and width.
  std::pair<size_t, size_t> pair(std::string_view name, size_t otherwise) {
    const auto value = text(name);
    if (!value) return {otherwise, otherwise};
    const size_t comma = value->find(',');
    if (comma == std::string::npos) return {to_size(name, *value), to_size(name, *value)};
    return {to_size(name, value->substr(0, comma)), to_size(name, value->substr(comma + 1))};
  }

  void finish() {
    for (const auto name : kPassedOver) text(name);
    if (!left_.empty())
      fail(where_, ": argument '", left_.begin()->first, "' (", left_.begin()->second,
           ") is not known");
  }

  [[noreturn]] void refuse(std::string_view name, std::string_view got,
                           std::string_view expected) const {
    fail(where_, ": argument '", name, "' is '", got, "', expected ", expected);
  }
  const std::string& where() const { return where_; }

 private:
  size_t to_size(std::string_view name, const std::string& text) const {
    size_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size())
      refuse(name, text, "a whole number");
    return value;
  }

  Arguments left_;
  std::string where_;
};

struct Norm {
  NormKind kind = NormKind::kLayerNorm;
  float eps = 1e-6f;
};

/// "rmsnorm(eps=1e-05)", "LayerNorm", "layernorm2d" …
std::optional<Norm> take_norm(Taker& take, std::string_view argument) {
  const auto value = take.text(argument);
  if (!value || value->empty()) return {};
  const std::string name = lower(*value);
  Norm norm;
  if (name.starts_with("rms"))
    norm.kind = NormKind::kRmsNorm;
  else if (!name.starts_with("layernorm"))
    take.refuse(argument, *value, "layernorm or rmsnorm");
  if (const size_t at = name.find("eps="); at != std::string::npos)
    norm.eps = std::strtof(name.c_str() + at + 4, nullptr);
  return norm;
}

void take_tokens(Taker& take, bool distilled, ModelConfig& c) {
  std::tie(c.embedding.image_height, c.embedding.image_width) = take.pair("img_size", 224);
  std::tie(c.embedding.patch_height, c.embedding.patch_width) = take.pair("patch_size", 16);
  c.embedding.channels = take.size("in_chans", 3);
  c.embedding.norm_before_blocks = take.flag("pre_norm").value_or(false);
  c.embedding.patch_bias = !c.embedding.norm_before_blocks;

  c.embedding.prefix.clear();
  if (take.flag("class_token").value_or(true)) c.embedding.prefix.push_back(PrefixToken::kClass);
  if (distilled) c.embedding.prefix.push_back(PrefixToken::kDistillation);
  const size_t registers = take.size("reg_tokens", 0);
  if (registers > 4096) take.refuse("reg_tokens", std::to_string(registers), "at most 4096");
  c.embedding.prefix.insert(c.embedding.prefix.end(), registers, PrefixToken::kRegister);

  const bool no_positions = take.says_none("pos_embed");
  const std::string positions = take.text("pos_embed").value_or(no_positions ? "" : "learn");
  if (positions != "learn" && !positions.empty()) take.refuse("pos_embed", positions, "learn");
  c.embedding.positions = positions.empty() ? PositionKind::kNone : PositionKind::kLearned;
  c.embedding.positions_cover_prefix = !take.flag("no_embed_class").value_or(false);
  if (const auto layer = take.text("embed_layer"); layer && *layer != "PatchEmbed")
    take.refuse("embed_layer", *layer, "PatchEmbed");
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
  // Python's int() cuts the product off: 1152 · 3.7362 is 4304.
  const auto hidden = static_cast<size_t>(static_cast<double>(c.encoder.width) *
                                          std::clamp(take.number("mlp_ratio", 4.0), 0.0, 1e6));
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
  c.encoder.width = take.size("embed_dim", 768);
  c.encoder.depth = take.size("depth", 12);
  c.encoder.heads = take.size("num_heads", 12);
  c.encoder.key_value_heads = c.encoder.heads;
  c.encoder.qkv_bias = take.flag("qkv_bias").value_or(true);
  c.encoder.qk_norm = take.flag("qk_norm").value_or(false);
  c.encoder.projection_bias = take.flag("proj_bias").value_or(true);
  c.encoder.mlp_bias = c.encoder.projection_bias;
  c.encoder.attention_norm = take.flag("scale_attn_norm").value_or(false);
  c.encoder.mlp_norm = take.flag("scale_mlp_norm").value_or(false);
  c.encoder.layer_scale = take.number("init_values", 0.0) != 0.0;

  const Norm norm = take_norm(take, "norm_layer").value_or(Norm{});
  c.encoder.norm = norm.kind;
  c.encoder.norm_eps = norm.eps;
  const auto patch_norm = take_norm(take, "embed_norm_layer");
  c.embedding.patch_norm = patch_norm.has_value();
  if (patch_norm && (patch_norm->kind != norm.kind || patch_norm->eps != norm.eps))
    fail(take.where(), ": the norm of the patches differs from the norm of the blocks");
  take_block(take, c);
  take_mlp(take, c);
}

void take_head(Taker& take, bool distilled, ModelConfig& c) {
  constexpr std::pair<std::string_view, Pooling> kPools[] = {
      {"token", Pooling::kClass},    {"avg", Pooling::kMean},      {"max", Pooling::kMax},
      {"avgmax", Pooling::kMeanMax}, {"map", Pooling::kAttention},
  };
  const std::string pool = take.text("global_pool").value_or("token");
  const auto known = std::find_if(std::begin(kPools), std::end(kPools),
                                  [&](const auto& entry) { return entry.first == pool; });
  if (known == std::end(kPools)) take.refuse("global_pool", pool, "token, avg, max, avgmax or map");
  c.head.pooling = known->second;
  c.head.pool_prefix = take.flag("pool_include_prefix").value_or(false);

  const bool averaged = pool == "avg" || pool == "avgmax" || pool == "max";
  const bool after_pooling = take.flag("fc_norm").value_or(averaged);
  const bool norm = take.flag("final_norm").value_or(true);
  c.head.final_norm = norm && !after_pooling;
  c.head.pooled_norm = norm && after_pooling;
  c.head.classes = take.size("num_classes", 1000);
  c.head.distilled_head = distilled;
}

}  // namespace

ModelConfig config_from_arguments(const Arguments& arguments, bool distilled,
                                  const std::string& where) {
  Taker take(arguments, where);
  ModelConfig config;
  take_tokens(take, distilled, config);
  take_encoder(take, config);
  take_head(take, distilled, config);
  take.finish();
  if (config.embedding.patch_height != 0 && config.embedding.patch_width != 0)
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
  fail(where, ": unknown interpolation '", name,
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
  fail(where, ": unknown activation '", name,
       "', expected gelu, gelu_tanh, quick_gelu, relu or silu");
}

}  // namespace vit::weights
