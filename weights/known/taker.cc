#include "weights/known/taker.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "vit/base/error.h"
#include "vit/base/text.h"

namespace vit::weights {
namespace {

/// Of training, or of how timm computes the same thing.
constexpr std::string_view kPassedOver[] = {
    "drop_rate",        "pos_drop_rate",   "patch_drop_rate", "proj_drop_rate", "attn_drop_rate",
    "drop_path_rate",   "weight_init",     "fix_init",        "device",         "dtype",
    "dynamic_img_size", "dynamic_img_pad", "strict_img_size", "features_only",  "scriptable",
    "exportable",       "pretrained",      "checkpoint_path", "cache_dir",      "head_init_scale",
    "use_naflex",       "fused_attn",
};

constexpr size_t kMostRegisters = 4096;

}  // namespace

bool Taker::says_none(std::string_view name) const {
  const auto found = left_.find(name);
  return found != left_.end() && (lower(found->second) == "none" || found->second == "null");
}

std::optional<std::string> Taker::text(std::string_view name) {
  const auto found = left_.find(name);
  if (found == left_.end()) return {};
  const bool none = says_none(name);
  std::string value = std::move(found->second);
  left_.erase(found);
  if (none) return {};
  return value;
}

size_t Taker::size(std::string_view name, size_t otherwise) {
  const auto value = text(name);
  return value ? to_size(name, *value) : otherwise;
}

std::optional<double> Taker::number(std::string_view name) {
  const auto value = text(name);
  if (!value) return {};
  const auto number = to_number<double>(*value);
  if (!number) refuse(name, *value, "a number");
  return number;
}

std::optional<bool> Taker::flag(std::string_view name) {
  const auto value = text(name);
  if (!value) return {};
  if (lower(*value) == "true") return true;
  if (lower(*value) == "false") return false;
  refuse(name, *value, "true or false");
}

std::optional<std::pair<size_t, size_t>> Taker::pair(std::string_view name) {
  const auto value = text(name);
  if (!value) return {};
  const size_t comma = value->find(',');
  if (comma == std::string::npos) return std::pair(to_size(name, *value), to_size(name, *value));
  return std::pair(to_size(name, value->substr(0, comma)), to_size(name, value->substr(comma + 1)));
}

void Taker::expect(std::string_view name, std::string_view value) {
  const auto got = text(name);
  if (got && *got != value) refuse(name, *got, value);
}

void Taker::finish() {
  for (const auto name : kPassedOver) text(name);
  if (!left_.empty())
    fail_at(where_, "argument '", left_.begin()->first, "' (", left_.begin()->second,
            ") is not known");
}

void Taker::refuse(std::string_view name, std::string_view got, std::string_view expected) const {
  fail_at(where_, "argument '", name, "' is '", got, "', expected ", expected);
}

size_t Taker::to_size(std::string_view name, const std::string& text) const {
  const auto value = to_number<size_t>(text);
  if (!value) refuse(name, text, "a whole number");
  return *value;
}

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

void take_prefix(Taker& take, bool class_token, std::string_view name, ModelConfig& c) {
  c.embedding.prefix.clear();
  if (class_token) c.embedding.prefix.push_back(PrefixToken::kClass);
  const size_t registers = take.size(name, 0);
  if (registers > kMostRegisters)
    take.refuse(name, std::to_string(registers), "at most " + std::to_string(kMostRegisters));
  c.embedding.prefix.insert(c.embedding.prefix.end(), registers, PrefixToken::kRegister);
}

void take_image(Taker& take, ModelConfig& c) {
  constexpr std::pair<size_t, size_t> kImage{224, 224}, kPatch{16, 16};
  std::tie(c.embedding.image_height, c.embedding.image_width) =
      take.pair("img_size").value_or(kImage);
  std::tie(c.embedding.patch_height, c.embedding.patch_width) =
      take.pair("patch_size").value_or(kPatch);
  c.embedding.channels = take.size("in_chans", 3);
}

void take_sizes(Taker& take, ModelConfig& c) {
  c.encoder.width = take.size("embed_dim", 768);
  c.encoder.depth = take.size("depth", 12);
  c.encoder.heads = take.size("num_heads", 12);
  c.encoder.key_value_heads = c.encoder.heads;
  const Norm norm = take_norm(take, "norm_layer").value_or(Norm{});
  c.encoder.norm = norm.kind;
  c.encoder.norm_eps = norm.eps;
}

void take_block_parts(Taker& take, std::string_view attention_norm, ModelConfig& c) {
  take_sizes(take, c);
  c.encoder.qkv_bias = take.flag("qkv_bias").value_or(true);
  c.encoder.qk_norm = take.flag("qk_norm").value_or(false);
  c.encoder.projection_bias = take.flag("proj_bias").value_or(true);
  c.encoder.mlp_bias = c.encoder.projection_bias;
  c.encoder.attention_norm = take.flag(attention_norm).value_or(false);
  c.encoder.mlp_norm = take.flag("scale_mlp_norm").value_or(false);
  c.encoder.layer_scale = take.number("init_values").value_or(0.0) != 0.0;
}

std::string take_pooling(Taker& take, std::string_view otherwise, ModelConfig& c) {
  constexpr std::pair<std::string_view, Pooling> kPools[] = {
      {"token", Pooling::kClass},    {"avg", Pooling::kMean},      {"max", Pooling::kMax},
      {"avgmax", Pooling::kMeanMax}, {"map", Pooling::kAttention},
  };
  std::string pool = take.text("global_pool").value_or(std::string(otherwise));
  const auto known = std::find_if(std::begin(kPools), std::end(kPools),
                                  [&](const auto& entry) { return entry.first == pool; });
  if (known == std::end(kPools)) take.refuse("global_pool", pool, "token, avg, max, avgmax or map");
  c.head.pooling = known->second;
  c.head.classes = take.size("num_classes", 1000);
  return pool;
}

void take_attention_pool(Taker& take, double mlp_ratio, ModelConfig& c) {
  const size_t heads = take.size("attn_pool_num_heads", c.encoder.heads);
  const double ratio = take.number("attn_pool_mlp_ratio").value_or(mlp_ratio);
  if (c.head.pooling != Pooling::kAttention) return;
  const size_t width = times_ratio(c.encoder.width, ratio);
  c.head.pool_heads = heads == c.encoder.heads ? 0 : heads;
  c.head.pool_mlp_width = width == c.encoder.mlp_width ? 0 : width;
}

size_t times_ratio(size_t width, double ratio) {
  return static_cast<size_t>(static_cast<double>(width) * std::clamp(ratio, 0.0, 1e6));
}

}  // namespace vit::weights
