#include "vit/model/model.h"

#include <cassert>

#include "patch/patchify.h"

namespace vit {
namespace {

/// The pooled tokens of an attention head, or an empty view when nobody looks.
MatrixView pooling_weights(const Model& model, const ModelTaps* taps, Matrix& buffer) {
  if (taps == nullptr || !taps->pooling || !model.head.attention_pool) return {};
  const ModelConfig& config = model.config;
  const size_t pooled = config.tokens() - (config.pool_prefix ? 0 : config.prefix.size());
  buffer = Matrix(model.head.attention_pool->attention.heads, pooled);
  return buffer;
}

}  // namespace

ModelWorkspace::ModelWorkspace(const Model& model)
    : pixels(model.config.channels, model.config.image_height * model.config.image_width),
      patches(model.config.grid().count(), model.config.patch_size()),
      tokens(model.config.tokens(), model.config.width),
      encoder(merge(workspace_shape(model.encoder, model.config.tokens()),
                    workspace_shape(model.head, model.config.tokens()))) {}

void run(const Model& model, ModelWorkspace& workspace, std::span<float> output,
         const ModelTaps* taps) {
  const ModelConfig& config = model.config;
  assert(output.size() == config.outputs());
  if (taps != nullptr && taps->pixels) taps->pixels(workspace.pixels);
  patch::patchify(workspace.pixels, config.image_width, config.patch_height, config.patch_width,
                  workspace.patches);
  patch::embed(model.embedding, workspace.patches, workspace.tokens, workspace.encoder.pool);
  if (taps != nullptr && taps->tokens) taps->tokens(workspace.tokens);

  encode(model.encoder, workspace.tokens, workspace.encoder,
         taps == nullptr ? nullptr : &taps->encoder);

  Matrix pooling;
  const MatrixView weights = pooling_weights(model, taps, pooling);
  answer(model.head, workspace.tokens, workspace.encoder, workspace.head, output, weights);
  if (!weights.empty()) taps->pooling(weights);
}

}  // namespace vit
