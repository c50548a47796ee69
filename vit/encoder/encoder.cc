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

/// One layer, with all that the taps ask for.
struct Layer {
  const Block& block;
  size_t index;
};
MatrixView run_layer(const Layer& at, BlockInput input, Workspace& workspace, MatrixView tokens,
                     const EncoderTaps* taps) {
  const auto& [block, layer] = at;
  if (taps == nullptr) return forward(block, input, workspace, tokens);
  if (!taps->silenced.empty()) input.silenced = taps->silenced.at(layer);
  Matrix buffer;
  if (taps->attention) input.probabilities = probabilities_of(block, tokens.rows, buffer);
  tokens = forward(block, input, workspace, tokens);
  if (taps->attention) taps->attention(layer, input.probabilities);
  if (taps->block) taps->block(layer, tokens);
  return tokens;
}

/// How many tokens of the last layer must be brought up to date; 0: all.
size_t wanted_of_last(const EncoderInput& input, size_t tokens, const EncoderTaps* taps) {
  const bool watched = taps != nullptr && (taps->attention || taps->block);
  const bool masked = input.mask.causal || !input.mask.bias.empty();
  return watched || masked || input.wanted >= tokens ? 0 : input.wanted;
}

}  // namespace

MatrixView encode(const Encoder& encoder, MatrixView tokens, Workspace& workspace,
                  const EncoderTaps* taps, const EncoderInput& input) {
  assert(input.merge == nullptr || !input.mask.any());
  if (input.merge != nullptr) input.merge->start(tokens.rows);
  for (size_t layer = 0; layer < encoder.blocks.size(); ++layer) {
    BlockInput block{.mask = input.mask, .merge = input.merge};
    // Before the first merge every token stands for itself, and there is nothing to add.
    if (input.merge != nullptr && layer > 0) block.mask.key_bias = input.merge->key_bias();
    if (layer + 1 == encoder.blocks.size()) block.wanted = wanted_of_last(input, tokens.rows, taps);
    tokens = run_layer({encoder.blocks[layer], layer}, block, workspace, tokens, taps);
  }
  return tokens;
}

void encode_next(const Encoder& encoder, MatrixView tokens, Workspace& workspace,
                 std::vector<KeyValueCache>& caches) {
  assert(caches.size() == encoder.blocks.size());
  for (size_t layer = 0; layer < encoder.blocks.size(); ++layer)
    forward(encoder.blocks[layer], {.mask = {.causal = true}, .cache = &caches[layer]}, workspace,
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
  for (const Block& block : encoder.blocks) shape = merge(shape, workspace_shape(block, tokens));
  return shape;
}

}  // namespace vit
