#include "tests/tools/random/random_model.h"

#include <algorithm>
#include <cmath>
#include <list>

#include "vit/base/error.h"
#include "weights/save.h"
#include "weights/tensor_list.h"

namespace vit::test {
namespace {

template <typename Enum>
Enum any_of(Dice& dice, int count) {
  return static_cast<Enum>(dice.below(static_cast<size_t>(count)));
}

GridSize random_grid(Dice& dice) {
  return {dice.between(1, 6), dice.between(1, 6)};
}

/// Mostly in the usual order, sometimes in none.
std::vector<PrefixToken> random_prefix(Dice& dice) {
  std::vector<PrefixToken> prefix;
  if (!dice.once_in(4)) prefix.push_back(PrefixToken::kClass);
  if (dice.once_in(3)) prefix.push_back(PrefixToken::kDistillation);
  if (dice.once_in(3)) prefix.resize(prefix.size() + dice.between(1, 3), PrefixToken::kRegister);
  if (dice.once_in(6) && prefix.size() > 1) std::swap(prefix.front(), prefix.back());
  return prefix;
}

void choose_tokens(ModelConfig& c, Dice& dice) {
  c.embedding.patch_height = dice.between(1, 12);
  c.embedding.patch_width = dice.coin() ? c.embedding.patch_height : dice.between(1, 12);
  c.embedding.image_height = c.embedding.patch_height * dice.between(1, 5);
  c.embedding.image_width =
      dice.coin() ? c.embedding.patch_width * dice.between(1, 5) : c.embedding.image_height;
  if (dice.once_in(8))
    c.embedding.image_height += dice.below(c.embedding.patch_height);  // pixels left over
  c.embedding.patch_bias = dice.coin();
  c.embedding.patch_norm = dice.once_in(4);
  c.embedding.prefix = random_prefix(dice);
  c.embedding.positions = any_of<PositionKind>(dice, 5);
  c.embedding.positions_cover_prefix = dice.coin();
  c.embedding.position_grid = dice.coin() ? c.embedding.grid() : random_grid(dice);
  c.embedding.position_resampling = any_of<PositionResampling>(dice, 5);
  c.embedding.positions_keep_aspect = dice.once_in(4);
  c.embedding.norm_before_blocks = dice.once_in(4);
}

void choose_encoder(ModelConfig& c, Dice& dice) {
  c.encoder.heads = dice.between(1, 6);
  c.encoder.width = c.encoder.heads * dice.between(1, 8);
  c.encoder.key_value_heads = dice.coin() ? c.encoder.heads : dice.between(1, c.encoder.heads);
  c.encoder.depth = dice.between(1, 3);
  c.encoder.mlp_width = dice.between(1, 48);
  c.encoder.norm = any_of<NormKind>(dice, 2);
  c.encoder.norm_eps = dice.one_of<float>({1e-6f, 1e-5f, 1e-12f, 0.0f, 1.0f});
  c.encoder.block = any_of<BlockKind>(dice, 4);
  c.encoder.branches = dice.once_in(4) ? dice.between(2, 3) : 1;
  c.encoder.attention = dice.coin() ? AttentionKind::kStandard : any_of<AttentionKind>(dice, 3);
  c.encoder.activation = any_of<Activation>(dice, 6);
  for (bool* flag : {&c.encoder.gated_mlp, &c.encoder.qk_norm, &c.encoder.attention_norm,
                     &c.encoder.mlp_norm, &c.encoder.layer_scale})
    *flag = dice.once_in(3);
  for (bool* flag :
       {&c.encoder.qkv_bias, &c.encoder.key_bias, &c.encoder.projection_bias, &c.encoder.mlp_bias})
    *flag = !dice.once_in(4);
}

void choose_rotary(RotaryConfig& rotary, Dice& dice) {
  if (!dice.once_in(3)) return;
  rotary.kind = any_of<RotaryKind>(dice, 4);
  rotary.temperature = dice.one_of<float>({1e-3f, 1.0f, 100.0f, 10000.0f, 1e30f});
  rotary.offset = dice.one_of<float>({0.0f, 0.0f, 0.5f, -3.0f, 1e30f});
  rotary.columns_first = dice.coin();
  rotary.split_halves = dice.coin();
  if (dice.coin()) rotary.reference = random_grid(dice);
  rotary.stored_periods = dice.coin();
}

void choose_relative_bias(ModelConfig& c, Dice& dice) {
  if (!dice.once_in(3)) return;
  RelativeBiasConfig& bias = c.encoder.relative_bias;
  bias.kind = any_of<RelativeBiasKind>(dice, 4);
  bias.per_block = dice.coin();
  bias.shared = dice.coin();
  bias.hidden = dice.between(1, 20);
  bias.class_rows = dice.once_in(3);
  bias.grid = dice.coin() ? c.embedding.grid() : random_grid(dice);
  bias.resampling = any_of<RelativeResampling>(dice, 2);
}

void choose_class_layers(ModelConfig& c, Dice& dice) {
  if (!dice.once_in(6)) return;
  c.head.class_layers = dice.between(1, 2);
  c.head.class_mlp_width = dice.between(1, 20);
  c.head.pooling = Pooling::kClass;
  c.embedding.prefix.clear();
}

void choose_head(ModelConfig& c, Dice& dice) {
  c.head.final_norm = !dice.once_in(4);
  c.head.pooled_norm = dice.once_in(4);
  c.head.pooling = any_of<Pooling>(dice, 6);
  c.head.pool_prefix = dice.coin();
  c.head.pooled_layers = dice.once_in(3) ? dice.between(1, c.encoder.depth) : 1;
  c.head.pool_heads = dice.once_in(3) ? dice.between(1, 6) : 0;
  c.head.pool_mlp_width = dice.once_in(3) ? dice.between(1, 48) : 0;
  c.head.distilled_head = dice.once_in(4);
  c.head.pre_logits = dice.once_in(4) ? dice.between(1, 40) : 0;
  c.head.pre_logits_tanh = dice.coin();
  c.head.pre_logits_bias = dice.coin();
  c.head.unit_features = dice.once_in(4);
  c.head.classes = dice.one_of<size_t>({0, 1, 2, 3, 5, 17, 100});
  c.head.head_bias = dice.coin();
  c.head.multi_label = dice.once_in(5);
}

bool is_valid(const ModelConfig& config) {
  try {
    validate(config, "random");
    return true;
  } catch (const Error&) {
    return false;
  }
}

Recipe random_recipe(const ModelConfig& c, Dice& dice) {
  Recipe recipe;
  recipe.resize = any_of<ResizeMode>(dice, 4);
  recipe.interpolation = any_of<Interpolation>(dice, 5);
  recipe.crop_height = c.embedding.image_height;
  recipe.crop_width = c.embedding.image_width;
  if (dice.once_in(8)) recipe.crop_height = c.embedding.patch_height * dice.between(1, 5);
  recipe.resize_height = dice.coin() ? recipe.crop_height : dice.between(1, 80);
  recipe.resize_width = dice.coin() ? recipe.resize_height : dice.between(1, 80);
  recipe.crop_fraction = dice.one_of<double>({0.0, 0.5, 0.9, 1.0, 1.25});
  for (float& mean : recipe.mean) mean = 0.5f + 0.2f * dice.normal();
  for (float& deviation : recipe.std) deviation = 0.1f + std::abs(dice.normal());
  return recipe;
}

std::vector<std::string> random_labels(size_t classes, Dice& dice) {
  const std::vector<std::string> kinds{"cat",      "",         "\x1b[31mred\x1b[0m",
                                       "=1+1",     "a,b\"c",   "line\nfeed",
                                       "größe 猫", "../../up", std::string(300, 'x')};
  std::vector<std::string> labels;
  if (dice.once_in(3)) return labels;
  for (size_t i = 0; i < classes; ++i)
    labels.push_back(dice.coin() ? "class-" + std::to_string(i) : dice.one_of(kinds));
  return labels;
}

/// Some models overflow: their numbers are finite, and their answers are not.
float random_gain(Dice& dice) {
  return dice.once_in(12) ? dice.one_of<float>({0.0f, 1e4f, 1e18f, 1e30f}) : 1.0f;
}

}  // namespace

ModelConfig random_config(Dice& dice) {
  while (true) {
    ModelConfig config;
    config.architecture = dice.once_in(4) ? "" : "random \x1b[2J model";
    choose_tokens(config, dice);
    choose_encoder(config, dice);
    choose_rotary(config.encoder.rotary, dice);
    choose_relative_bias(config, dice);
    choose_head(config, dice);
    choose_class_layers(config, dice);
    if (is_valid(config)) return config;
  }
}

void save_random_model(const std::filesystem::path& path, const ModelConfig& config, Dice& dice) {
  const float gain = random_gain(dice);
  const bool vectors = dice.coin();  // of the two forms of lambda
  std::list<std::vector<float>> numbers;
  weights::WeightMap weights;
  for (const weights::TensorSpec& spec : weights::tensors_of(config)) {
    if (spec.role == weights::TensorRole::kLambda && vectors == spec.shape.empty()) continue;
    auto& values = numbers.emplace_back(weights::element_count(spec.shape));
    for (float& value : values) value = gain * 0.3f * dice.normal();
    weights.emplace(spec.name, weights::Tensor{weights::DType::kF32, spec.shape,
                                               weights::contiguous_strides(spec.shape),
                                               reinterpret_cast<const std::byte*>(values.data())});
  }
  using weights::DType;
  const DType dtype =
      gain > 1.0f ? DType::kF32
                  : dice.one_of<DType>({DType::kF32, DType::kF16, DType::kBf16, DType::kI8});
  weights::save(path,
                {config, random_recipe(config, dice), random_labels(config.head.classes, dice), {}},
                weights, {.dtype = dtype});
}

}  // namespace vit::test
