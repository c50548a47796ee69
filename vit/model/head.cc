#include "vit/model/head.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace vit {
namespace {

MatrixView as_row(std::span<float> numbers) {
  return {numbers.data(), 1, numbers.size()};
}

/// Merged tokens count as often as the tokens they stand for; no sizes: once each.
void mean_of(ConstMatrixView tokens, std::span<const float> sizes, std::span<float> out) {
  std::fill(out.begin(), out.end(), 0.0f);
  float total = 0.0f;
  for (size_t r = 0; r < tokens.rows; ++r) {
    const float size = sizes.empty() ? 1.0f : sizes[r];
    for (size_t c = 0; c < tokens.cols; ++c) out[c] += size * tokens(r, c);
    total += size;
  }
  for (float& value : out) value /= total;
}

void max_of(ConstMatrixView tokens, std::span<float> out) {
  std::copy_n(tokens.row(0), tokens.cols, out.begin());
  for (size_t r = 1; r < tokens.rows; ++r)
    for (size_t c = 0; c < tokens.cols; ++c) out[c] = std::max(out[c], tokens(r, c));
}

struct Pooled {
  ConstMatrixView tokens;
  std::span<const float> sizes;  // empty: each stands for itself
  MatrixView attention;          // of an attention pool; empty: not asked for
};

void attention_of(const AttentionPool& pool, const Pooled& seen, Workspace& workspace,
                  std::span<float> out) {
  std::vector<float> key_bias(seen.sizes.begin(), seen.sizes.end());
  for (float& size : key_bias) size = std::log(size);
  attend(pool.attention,
         {.tokens = pool.latent,
          .memory = seen.tokens,
          .mask = {.key_bias = key_bias},
          .probabilities = seen.attention},
         workspace, as_row(out));
  const MatrixView normed = workspace.normed(1, out.size());
  normalize(pool.norm, as_row(out), normed, workspace.pool);
  feed_forward(pool.mlp, normed, workspace, as_row(out), {.residual = as_row(out)});
}

/// What pooling sees of the tokens: the patches, or all of them. Where the class token alone is
/// read, there may be no others.
Pooled seen_by(const Head& head, ConstMatrixView tokens, std::span<const float> sizes,
               MatrixView attention) {
  const size_t first = head.pool_prefix ? 0 : std::min(head.prefix, tokens.rows);
  return {tokens.row_range(first, tokens.rows - first),
          sizes.empty() ? sizes : sizes.subspan(first), attention};
}

void pool_tokens(const Head& head, ConstMatrixView tokens, const Pooled& seen, Workspace& workspace,
                 std::span<float> pooled) {
  switch (head.pooling) {
    case Pooling::kClass:
      std::copy_n(tokens.row(0), tokens.cols, pooled.begin());
      return;
    case Pooling::kMean:
      return mean_of(seen.tokens, seen.sizes, pooled);
    case Pooling::kMax:
      return max_of(seen.tokens, pooled);
    case Pooling::kMeanMax: {
      std::vector<float> largest(pooled.size());
      max_of(seen.tokens, largest);
      mean_of(seen.tokens, seen.sizes, pooled);
      for (size_t i = 0; i < pooled.size(); ++i) pooled[i] = 0.5f * (pooled[i] + largest[i]);
      return;
    }
    case Pooling::kAttention:
      return attention_of(*head.attention_pool, seen, workspace, pooled);
    case Pooling::kClassAndMean:
      std::copy_n(tokens.row(0), tokens.cols, pooled.begin());
      return mean_of(seen.tokens, seen.sizes, pooled.subspan(tokens.cols));
  }
}

}  // namespace

size_t tokens_read(const Head& head) {
  if (head.pooling != Pooling::kClass) return 0;
  return head.distills ? 2 : 1;
}

void answer(const Head& head, MatrixView tokens, Workspace& workspace, HeadScratch& scratch,
            std::span<float> output, MatrixView attention) {
  const size_t read = tokens_read(head);
  const MatrixView needed = read == 0 ? tokens : tokens.row_range(0, read);
  normalize(head.final_norm, needed, needed, workspace.pool);
  scratch.pooled.resize(head.pooling == Pooling::kClassAndMean ? 2 * tokens.cols : tokens.cols);
  std::span<float> features = scratch.pooled;
  pool_tokens(head, tokens, seen_by(head, tokens, scratch.sizes, attention), workspace, features);
  normalize(head.pooled_norm, as_row(features), as_row(features), workspace.pool);

  if (!head.pre_logits.empty()) {
    scratch.hidden.resize(head.pre_logits.out);
    apply(head.pre_logits, as_row(features), as_row(scratch.hidden), {}, workspace.pool);
    for (float& value : scratch.hidden) value = std::tanh(value);
    features = scratch.hidden;
  }
  if (head.classifier.empty()) {
    assert(output.size() == features.size());
    for (size_t i = 0; i < output.size(); ++i)
      output[i] = head.distills ? 0.5f * (features[i] + tokens(1, i)) : features[i];
    return;
  }
  apply(head.classifier, as_row(features), as_row(output), {}, workspace.pool);
  if (!head.distills) return;
  apply(head.distilled, tokens.row_range(1, 1), as_row(output), {.residual = as_row(output)},
        workspace.pool);
  for (float& value : output) value *= 0.5f;
}

WorkspaceShape workspace_shape(const Head& head, size_t tokens) {
  if (!head.attention_pool) return {};
  return merge(workspace_shape(head.attention_pool->attention, 1, tokens),
               workspace_shape(head.attention_pool->mlp, 1));
}

}  // namespace vit
