#include "vit/model/model.h"

#include <algorithm>
#include <cassert>

#include "patch/patchify.h"
#include "vit/base/error.h"

namespace vit {
namespace {

/// The pooled tokens of an attention head, or an empty view when nobody looks.
MatrixView pooling_weights(const Model& model, const ModelTaps* taps, size_t tokens,
                           Matrix& buffer) {
  if (taps == nullptr || !taps->pooling || !model.head.attention_pool) return {};
  const ModelConfig& config = model.config;
  const size_t pooled = tokens - (config.head.pool_prefix ? 0 : config.embedding.prefix.size());
  buffer = Matrix(model.head.attention_pool->attention.heads, pooled);
  return buffer;
}

}  // namespace

ModelWorkspace::ModelWorkspace(const Model& model, size_t merge_per_layer)
    : pixels(model.config.embedding.channels,
             model.config.embedding.image_height * model.config.embedding.image_width),
      patches(model.config.embedding.grid().count(), model.config.embedding.patch_size()),
      tokens(model.config.embedding.tokens(), model.config.encoder.width),
      encoder(vit::merge(workspace_shape(model.encoder, model.config.embedding.tokens()),
                         workspace_shape(model.head, model.config.embedding.tokens()))) {
  if (merge_per_layer == 0) return;
  if (!std::all_of(model.encoder.blocks.begin(), model.encoder.blocks.end(), can_merge))
    fail(model.config.architecture,
         ": tokens merge between attention and MLP of pre-norm blocks, but ", "this model's are ",
         to_string(model.config.encoder.block), " with ", model.config.encoder.branches,
         " branches");
  merge.emplace(merge_per_layer, model.config.embedding.prefix.size());
}

void run(const Model& model, ModelWorkspace& workspace, std::span<float> output,
         const ModelTaps* taps) {
  const ModelConfig& config = model.config;
  assert(output.size() == config.outputs());
  if (taps != nullptr && taps->pixels) taps->pixels(workspace.pixels);
  patch::patchify(workspace.pixels, config.embedding.image_width, config.embedding.patch_height,
                  config.embedding.patch_width, workspace.patches);
  patch::embed(model.embedding, workspace.patches, workspace.tokens, workspace.encoder.pool);
  if (taps != nullptr && taps->tokens) taps->tokens(workspace.tokens);

  const EncoderTaps* encoder_taps = taps == nullptr ? nullptr : &taps->encoder;
  TokenMerge* merge = workspace.merge ? &*workspace.merge : nullptr;
  const MatrixView tokens = encode(model.encoder, workspace.tokens, workspace.encoder, encoder_taps,
                                   {.merge = merge, .wanted = tokens_read(model.head)});
  if (merge != nullptr) workspace.head.sizes = merge->sizes();

  Matrix pooling;
  const MatrixView weights = pooling_weights(model, taps, tokens.rows, pooling);
  answer(model.head, tokens, workspace.encoder, workspace.head, output, weights);
  if (!weights.empty()) taps->pooling(weights);
}

}  // namespace vit
