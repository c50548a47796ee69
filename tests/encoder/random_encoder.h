/// A small pre-norm encoder with random weights.
#pragma once

#include "tests/encoder/parts.h"
#include "vit/encoder/encoder.h"

namespace vit::test {

constexpr size_t kEncoderWidth = 24, kEncoderHeads = 3, kEncoderHidden = 50;

inline Encoder random_encoder(size_t depth) {
  Encoder encoder;
  for (unsigned layer = 0; layer < depth; ++layer) {
    const unsigned seed = 100 * layer;
    AttentionBranch attention;
    attention.norm = random_norm(NormKind::kLayerNorm, kEncoderWidth, seed + 1);
    attention.attention.qkv = KnownLinear(3 * kEncoderWidth, kEncoderWidth, seed + 3).packed();
    attention.attention.project = KnownLinear(kEncoderWidth, kEncoderWidth, seed + 5).packed();
    attention.attention.heads = attention.attention.key_value_heads = kEncoderHeads;
    MlpBranch mlp;
    mlp.norm = random_norm(NormKind::kLayerNorm, kEncoderWidth, seed + 7);
    mlp.mlp.expand = KnownLinear(kEncoderHidden, kEncoderWidth, seed + 9).packed();
    mlp.mlp.contract = KnownLinear(kEncoderWidth, kEncoderHidden, seed + 11).packed();
    Block block{.kind = BlockKind::kPreNorm, .attention = {}, .mlp = {}};
    block.attention.push_back(std::move(attention));
    block.mlp.push_back(std::move(mlp));
    encoder.blocks.push_back(std::move(block));
  }
  return encoder;
}

}  // namespace vit::test
