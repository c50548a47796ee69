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

}  // namespace

void encode(const Encoder& encoder, MatrixView tokens, Workspace& workspace,
            const EncoderTaps* taps, const AttentionMask& mask) {
  Matrix tapped;
  for (size_t layer = 0; layer < encoder.blocks.size(); ++layer) {
    const Block& block = encoder.blocks[layer];
    BlockInput input{.mask = mask};
    if (taps != nullptr && taps->attention)
      input.probabilities = probabilities_of(block, tokens.rows, tapped);
    if (taps != nullptr && !taps->silenced.empty()) input.silenced = taps->silenced.at(layer);
    forward(block, input, workspace, tokens);
    if (taps != nullptr && taps->attention) taps->attention(layer, input.probabilities);
    if (taps != nullptr && taps->block) taps->block(layer, tokens);
  }
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
