#include "tools/info/model_cost.h"

namespace vit::tools {
namespace {

/// One attention and one MLP over all tokens.
std::uint64_t block_products(const ModelConfig& c) {
  const std::uint64_t tokens = c.embedding.tokens(), width = c.encoder.width;
  const std::uint64_t projections = tokens * width * (c.encoder.qkv_rows() + width);
  const std::uint64_t attention = 2 * tokens * tokens * width;
  const std::uint64_t mlp = tokens * width * (c.encoder.mlp_rows() + c.encoder.mlp_width);
  return projections + attention + mlp;
}

std::uint64_t head_products(const ModelConfig& c) {
  const std::uint64_t width = c.encoder.width;
  const std::uint64_t pooled =
      c.embedding.tokens() - (c.head.pool_prefix ? 0 : c.embedding.prefix.size());
  std::uint64_t sum = 0;
  if (c.head.pooling == Pooling::kAttention)  // one query: q, k and v, scores and values, out, MLP
    sum += width * width * (2 + 2 * pooled) + 2 * pooled * width + 2 * width * c.encoder.mlp_width;
  const std::uint64_t features = c.classifier_inputs();
  if (c.head.pre_logits != 0) sum += c.pooled_width() * c.head.pre_logits;
  return sum + features * c.head.classes * (c.head.distilled_head ? 2 : 1);
}

}  // namespace

std::uint64_t multiply_adds(const ModelConfig& c) {
  const std::uint64_t patches =
      std::uint64_t{c.embedding.grid().count()} * c.embedding.patch_size() * c.encoder.width;
  return patches + c.encoder.depth * c.encoder.branches * block_products(c) + head_products(c);
}

std::uint64_t activation_bytes(const ModelConfig& c) {
  const std::uint64_t pixels =
      std::uint64_t{c.embedding.channels} * c.embedding.image_height * c.embedding.image_width;
  const std::uint64_t patches =
      std::uint64_t{c.embedding.grid().count()} * c.embedding.patch_size();
  const std::uint64_t contexts = c.encoder.attention == AttentionKind::kDifferential ? 2 : 1;
  // Per token: itself, its normed copy, an update; queries, keys and values; the heads' output;
  // the MLP's hidden layer.
  const std::uint64_t per_token =
      (3 + contexts) * c.encoder.width + c.encoder.qkv_rows() + c.encoder.mlp_rows();
  return sizeof(float) * (pixels + patches + c.embedding.tokens() * per_token);
}

}  // namespace vit::tools
