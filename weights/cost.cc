#include "weights/cost.h"

#include "weights/tensor_list.h"

namespace vit::weights {
namespace {

/// Tokens that pooling looks at.
std::uint64_t pooled_tokens(const ModelConfig& c) {
  return c.embedding.tokens() - (c.head.pool_prefix ? 0 : c.embedding.prefix.size());
}

std::uint64_t input_rows(KernelInput input, const ModelConfig& c) {
  switch (input) {
    case KernelInput::kPatches:
      return c.embedding.grid().count();
    case KernelInput::kTokens:
      return c.embedding.tokens();
    case KernelInput::kPooledTokens:
      return pooled_tokens(c);
    case KernelInput::kClassAndTokens:
      return 1 + c.embedding.tokens();
    case KernelInput::kOneRow:
      break;
  }
  return 1;
}

}  // namespace

std::uint64_t multiply_adds(const ModelConfig& c) {
  std::uint64_t sum = 0;
  for_each_tensor(c, [&](const TensorSpec& spec) {
    if (spec.role == TensorRole::kKernel) sum += spec.size() * input_rows(spec.input, c);
  });
  // A stem makes a quarter as many numbers of each patch, in 16 places, then in 4.
  const std::uint64_t patch = c.embedding.patch_size();
  if (c.embedding.conv_stem) sum += c.embedding.grid().count() * (patch / 4) * (patch + 4 * patch);
  // Scores and weighted values of every attention.
  const std::uint64_t tokens = c.embedding.tokens(), width = c.encoder.width;
  sum += c.encoder.depth * c.encoder.branches * 2 * tokens * tokens * width;
  // Talking heads mix the scores twice.
  if (c.encoder.attention == AttentionKind::kTalkingHeads)
    sum += c.encoder.depth * 2 * tokens * tokens * c.encoder.heads * c.encoder.heads;
  sum += c.head.class_layers * 2 * (1 + tokens) * width;
  if (c.head.pooling == Pooling::kAttention) sum += 2 * pooled_tokens(c) * width;
  return sum;
}

std::uint64_t activation_bytes(const ModelConfig& c) {
  const EmbeddingConfig& embedding = c.embedding;
  const std::uint64_t pixels =
      std::uint64_t{embedding.channels} * embedding.image_height * embedding.image_width;
  const std::uint64_t patches = std::uint64_t{embedding.grid().count()} * embedding.patch_size();
  const std::uint64_t contexts = c.encoder.attention == AttentionKind::kDifferential ? 2 : 1;
  // Per token: itself, its normed copy, an update; queries, keys and values; the heads' output;
  // the MLP's hidden layer.
  const std::uint64_t per_token =
      (3 + contexts) * c.encoder.width + c.encoder.qkv_rows() + c.encoder.mlp_rows();
  return sizeof(float) * (pixels + patches + embedding.tokens() * per_token);
}

}  // namespace vit::weights
