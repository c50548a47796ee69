#include "tools/info/model_cost.h"

namespace vit::tools {
namespace {

std::uint64_t qkv_width(const ModelConfig& c) {
  return (c.heads + 2 * c.key_value_heads) * c.head_width();
}

std::uint64_t hidden_width(const ModelConfig& c) {
  return c.gated_mlp ? 2 * c.mlp_width : c.mlp_width;
}

/// One attention and one MLP over all tokens.
std::uint64_t block_products(const ModelConfig& c) {
  const std::uint64_t tokens = c.tokens(), width = c.width;
  const std::uint64_t projections = tokens * width * (qkv_width(c) + width);
  const std::uint64_t attention = 2 * tokens * tokens * width;
  const std::uint64_t mlp = tokens * width * (hidden_width(c) + c.mlp_width);
  return projections + attention + mlp;
}

std::uint64_t head_products(const ModelConfig& c) {
  const std::uint64_t width = c.width;
  const std::uint64_t pooled = c.tokens() - (c.pool_prefix ? 0 : c.prefix.size());
  std::uint64_t sum = 0;
  if (c.pooling == Pooling::kAttention)  // one query: q, k and v, scores and values, out, MLP
    sum += width * width * (2 + 2 * pooled) + 2 * pooled * width + 2 * width * c.mlp_width;
  const std::uint64_t features = c.pre_logits != 0 ? c.pre_logits : c.pooled_width();
  if (c.pre_logits != 0) sum += c.pooled_width() * c.pre_logits;
  return sum + features * c.classes * (c.distilled_head ? 2 : 1);
}

}  // namespace

std::uint64_t multiply_adds(const ModelConfig& c) {
  const std::uint64_t patches = std::uint64_t{c.grid().count()} * c.patch_size() * c.width;
  return patches + c.depth * c.branches * block_products(c) + head_products(c);
}

std::uint64_t activation_bytes(const ModelConfig& c) {
  const std::uint64_t pixels = std::uint64_t{c.channels} * c.image_height * c.image_width;
  const std::uint64_t patches = std::uint64_t{c.grid().count()} * c.patch_size();
  const std::uint64_t contexts = c.attention == AttentionKind::kDifferential ? 2 : 1;
  // Per token: itself, its normed copy, an update; queries, keys and values; the heads' output;
  // the MLP's hidden layer.
  const std::uint64_t per_token = (3 + contexts) * c.width + qkv_width(c) + hidden_width(c);
  return sizeof(float) * (pixels + patches + c.tokens() * per_token);
}

}  // namespace vit::tools
