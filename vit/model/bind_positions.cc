#include "vit/model/bind_positions.h"

#include <memory>
#include <span>
#include <string>

#include "vit/encoder/relative_bias.h"
#include "vit/encoder/rotary.h"

namespace vit {
namespace {

Attention& attention_of(Encoder& encoder, size_t layer) {
  return encoder.blocks[layer].attention.front().attention;
}

/// One table for all layers.
void bind_fixed_rotary(const WeightScope& w, const ModelConfig& c, Encoder& encoder) {
  const RotaryConfig& config = c.encoder.rotary;
  const std::vector<float> periods =
      config.stored_periods ? w.vector("rope.periods") : std::vector<float>{};
  const size_t d = c.encoder.head_width();
  Rotary rotary = make_rotary(config, rotary_angles(config, c.embedding.grid(), d, periods), d);
  rotary.prefix = c.embedding.prefix.size();
  const auto shared = std::make_shared<const Rotary>(std::move(rotary));
  for (size_t layer = 0; layer < c.encoder.depth; ++layer)
    attention_of(encoder, layer).rotary = shared;
}

/// rope.freqs: [2, layers, heads, d / 2].
void bind_learned_rotary(const WeightScope& w, const ModelConfig& c, Encoder& encoder) {
  const RotaryConfig& config = c.encoder.rotary;
  const std::vector<float> all = w.vector("rope.freqs");
  const size_t heads = c.encoder.heads, each = c.encoder.width / 2;
  for (size_t layer = 0; layer < c.encoder.depth; ++layer) {
    const auto of_axis = [&](size_t axis) {
      return std::span(all).subspan((axis * c.encoder.depth + layer) * each, each);
    };
    const std::vector<double> angles =
        rotary_angles(config, c.embedding.grid(), of_axis(0), of_axis(1), heads);
    Rotary rotary = make_rotary(config, angles, c.encoder.head_width());
    rotary.heads = heads;
    rotary.prefix = c.embedding.prefix.size();
    attention_of(encoder, layer).rotary = std::make_shared<const Rotary>(std::move(rotary));
  }
}

RelativeBiasWeights bias_weights(const WeightScope& w, const RelativeBiasConfig& config) {
  RelativeBiasWeights weights;
  if (config.kind == RelativeBiasKind::kTable) {
    weights.table = w.matrix("table");
    return weights;
  }
  weights.expand = w.matrix("mlp.fc1.weight");
  weights.expand_bias = w.vector("mlp.fc1.bias");
  weights.contract = w.matrix("mlp.fc2.weight");
  if (w.has("mlp.fc2.bias")) weights.contract_bias = w.vector("mlp.fc2.bias");
  return weights;
}

OffsetBias empty_bias(const ModelConfig& c) {
  OffsetBias bias;
  bias.prefix = c.embedding.prefix.size();
  bias.grid = c.embedding.grid();
  return bias;
}

void bind_relative_bias(const WeightScope& w, const ModelConfig& c, Encoder& encoder) {
  const RelativeBiasConfig& config = c.encoder.relative_bias;
  RelativeBiasWeights shared;
  if (config.shared) shared = bias_weights(w / "rel_pos", config);
  if (!config.per_block) {
    OffsetBias bias = empty_bias(c);
    add_relative_bias(config, shared, bias);
    const auto of_all = std::make_shared<const OffsetBias>(std::move(bias));
    for (size_t layer = 0; layer < c.encoder.depth; ++layer)
      attention_of(encoder, layer).offsets = of_all;
    return;
  }
  for (size_t layer = 0; layer < c.encoder.depth; ++layer) {
    OffsetBias bias = empty_bias(c);
    const WeightScope own = w / ("blocks." + std::to_string(layer) + ".attn.rel_pos");
    add_relative_bias(config, bias_weights(own, config), bias);
    if (config.shared) add_relative_bias(config, shared, bias);
    attention_of(encoder, layer).offsets = std::make_shared<const OffsetBias>(std::move(bias));
  }
}

}  // namespace

void bind_places(const WeightScope& w, const ModelConfig& c, Encoder& encoder) {
  if (c.encoder.rotary.kind == RotaryKind::kLearned)
    bind_learned_rotary(w, c, encoder);
  else if (c.encoder.rotary.kind != RotaryKind::kNone)
    bind_fixed_rotary(w, c, encoder);
  if (c.encoder.relative_bias.kind != RelativeBiasKind::kNone) bind_relative_bias(w, c, encoder);
}

}  // namespace vit
