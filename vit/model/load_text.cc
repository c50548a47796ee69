#include "vit/model/load_text.h"

#include "vit/model/bind.h"

namespace vit {

text::TextTower load_text_tower(const weights::TextCheckpoint& checkpoint, Isa isa) {
  const TextConfig& c = checkpoint.config;
  const WeightScope weights(checkpoint.tower, isa);
  text::TextTower tower;
  tower.config = c;
  tower.isa = isa;
  tower.token_table = checkpoint.tower.at("token_embed.weight");
  tower.positions = weights.matrix("pos_embed");
  for (size_t layer = 0; layer < c.encoder.depth; ++layer)
    tower.encoder.blocks.push_back(
        bind_block(weights / ("blocks." + std::to_string(layer)), c.encoder, layer));
  tower.norm = bind_norm(weights / "norm", c.encoder);
  tower.projection = bind_linear(weights / "proj");
  return tower;
}

}  // namespace vit
