#include "vit/model/model.h"

#include <algorithm>

#include "vit/base/error.h"

namespace vit {

namespace {

/// Throws an Error if this many tokens cannot be merged after each layer.
void check_merging(const Model& model, size_t merge_tokens) {
  const std::string where = place_of(model.config);
  const EncoderConfig& encoder_config = model.config.encoder;
  if (encoder_config.rotary.kind != RotaryKind::kNone ||
      encoder_config.relative_bias.kind != RelativeBiasKind::kNone)
    fail_at(where,
            "tokens cannot be merged, because rotary positions and relative position biases need "
            "every patch at its own place; run it without merging");
  if (encoder_config.attention == AttentionKind::kTalkingHeads)
    fail_at(where,
            "tokens cannot be merged, because talking heads take no sizes of merged "
            "tokens; run it without merging");
  if (!std::all_of(model.encoder.blocks.begin(), model.encoder.blocks.end(), can_merge))
    fail_at(where, "tokens cannot be merged, because its blocks are ",
            encoder_config.branches > 1 ? "of several branches" : to_string(encoder_config.block),
            ", expected pre-norm blocks of one branch; run it without merging");
  // With fewer tokens than that the last layers have too little left to distinguish classes.
  const size_t patch_count = model.config.embedding.grid().count(),
               layers = model.encoder.blocks.size();
  if (merge_tokens * layers >= patch_count)
    fail_at(where, "merging ", merge_tokens, " tokens after each of ", layers,
            " layers needs more than ", merge_tokens * layers, " patches, the model has ",
            patch_count, "; at most ", (patch_count - 1) / std::max<size_t>(layers, 1),
            " can be merged");
}

}  // namespace

std::string place_of(const ModelConfig& config) {
  return config.architecture.empty() ? "this model" : config.architecture;
}

ModelWorkspace::ModelWorkspace(const Model& model, size_t merge_tokens)
    : pixels(model.config.embedding.channels,
             model.config.embedding.image_height * model.config.embedding.image_width),
      patches(model.config.embedding.grid().count(), model.config.embedding.patch_size()),
      tokens(model.config.embedding.tokens(), model.config.encoder.width),
      stem(model.embedding.stem, model.config.embedding.grid().count()),
      encoder(larger_of(workspace_shape(model.encoder, model.config.embedding.tokens()),
                        workspace_shape(model.head, model.config.embedding.tokens()))) {
  if (merge_tokens == 0) return;
  check_merging(model, merge_tokens);
  merge.emplace(merge_tokens, model.config.embedding.prefix.size());
}

}  // namespace vit
