#include "vit/encoder/encoder.h"

#include <cassert>

namespace vit {
namespace {

MatrixView probabilities_of(const Block& block, size_t tokens, Matrix& buffer) {
  size_t heads = 0;
  for (const AttentionBranch& branch : block.attention) heads += branch.attention.heads;
  if (buffer.size() < heads * tokens * tokens) buffer = Matrix(heads * tokens, tokens);
  return {buffer.data(), heads * tokens, tokens};
}

struct Layer {
  const Block& block;
  size_t index;
};

/// Runs one layer and calls the taps.
MatrixView run_layer(const Layer& at, BlockInput input, const Resources& resources,
                     MatrixView tokens, const EncoderTaps* taps) {
  const auto& [block, layer] = at;
  if (taps == nullptr) return forward(block, input, resources, tokens);
  Matrix buffer;
  if (taps->attention) input.probabilities = probabilities_of(block, tokens.rows, buffer);
  tokens = forward(block, input, resources, tokens);
  if (taps->attention) taps->attention(layer, input.probabilities);
  if (taps->merged && input.merge != nullptr) taps->merged(layer, input.merge->merged());
  if (taps->block) taps->block(layer, tokens);
  return tokens;
}

/// How many tokens the last layer must update; 0: all.
size_t needed_of_last(const EncoderInput& input, size_t tokens, const EncoderTaps* taps) {
  const bool observed = taps != nullptr && (taps->attention || taps->merged || taps->block);
  const bool by_head = !input.mask.bias.empty() && input.mask.bias.rows != tokens;
  const bool masked = input.mask.causal || by_head;
  return observed || masked || input.needed_tokens >= tokens ? 0 : input.needed_tokens;
}

}  // namespace

MatrixView encode(const Encoder& encoder, MatrixView tokens, const Resources& resources,
                  const EncoderTaps* taps, const EncoderInput& input) {
  assert(input.merge == nullptr || !input.mask.any());
  assert(input.disabled_heads.empty() || input.disabled_heads.size() == encoder.blocks.size());
  if (input.merge != nullptr && input.first_layer == 0) input.merge->start(tokens.rows);
  for (size_t layer = input.first_layer; layer < encoder.blocks.size(); ++layer) {
    BlockInput block{.mask = input.mask, .merge = input.merge};
    // Before the first merge all sizes are 1, and their logarithms add nothing.
    if (input.merge != nullptr && layer > 0) block.mask.key_bias = input.merge->key_bias();
    if (!input.disabled_heads.empty()) block.disabled_heads = input.disabled_heads[layer];
    if (layer + 1 == encoder.blocks.size())
      block.needed_tokens = needed_of_last(input, tokens.rows, taps);
    tokens = run_layer({encoder.blocks[layer], layer}, block, resources, tokens, taps);
    if (input.read_layer && layer + 1 < encoder.blocks.size()) input.read_layer(layer, tokens);
  }
  return tokens;
}

void encode_next(const Encoder& encoder, MatrixView tokens, const Resources& resources,
                 std::vector<KeyValueCache>& caches) {
  assert(caches.size() == encoder.blocks.size());
  for (size_t layer = 0; layer < encoder.blocks.size(); ++layer)
    forward(encoder.blocks[layer], {.mask = {.causal = true}, .cache = &caches[layer]}, resources,
            tokens);
}

std::vector<KeyValueCache> make_caches(const Encoder& encoder, size_t capacity) {
  std::vector<KeyValueCache> caches;
  for (const Block& block : encoder.blocks) {
    const size_t width = block.attention.front().attention.key_width();
    caches.emplace_back(capacity, width, width);
  }
  return caches;
}

WorkspaceShape workspace_shape(const Encoder& encoder, size_t tokens) {
  WorkspaceShape shape;
  for (const Block& block : encoder.blocks)
    shape = larger_of(shape, workspace_shape(block, tokens));
  return shape;
}

}  // namespace vit
