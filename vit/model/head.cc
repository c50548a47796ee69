#include "vit/model/head.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace vit {
namespace {

MatrixView as_row(std::span<float> numbers) {
  return {numbers.data(), 1, numbers.size()};
}

void mean_of(ConstMatrixView tokens, std::span<float> out) {
  std::fill(out.begin(), out.end(), 0.0f);
  for (size_t r = 0; r < tokens.rows; ++r)
    for (size_t c = 0; c < tokens.cols; ++c) out[c] += tokens(r, c);
  for (float& value : out) value /= static_cast<float>(tokens.rows);
}

void max_of(ConstMatrixView tokens, std::span<float> out) {
  std::copy_n(tokens.row(0), tokens.cols, out.begin());
  for (size_t r = 1; r < tokens.rows; ++r)
    for (size_t c = 0; c < tokens.cols; ++c) out[c] = std::max(out[c], tokens(r, c));
}

void attention_of(const AttentionPool& pool, ConstMatrixView tokens, Workspace& workspace,
                  std::span<float> out, MatrixView probabilities) {
  attend(pool.attention, {.tokens = pool.latent, .memory = tokens, .probabilities = probabilities},
         workspace, as_row(out));
  const MatrixView normed = workspace.normed(1, out.size());
  normalize(pool.norm, as_row(out), normed, workspace.pool);
  feed_forward(pool.mlp, normed, workspace, as_row(out), {.residual = as_row(out)});
}

void pool_tokens(const Head& head, ConstMatrixView tokens, Workspace& workspace,
                 std::span<float> pooled, MatrixView attention) {
  const size_t first = head.pool_prefix ? 0 : head.prefix;
  const ConstMatrixView seen = tokens.row_range(first, tokens.rows - first);
  switch (head.pooling) {
    case Pooling::kClass:
      std::copy_n(tokens.row(0), tokens.cols, pooled.begin());
      return;
    case Pooling::kMean:
      return mean_of(seen, pooled);
    case Pooling::kMax:
      return max_of(seen, pooled);
    case Pooling::kMeanMax: {
      std::vector<float> largest(pooled.size());
      max_of(seen, largest);
      mean_of(seen, pooled);
      for (size_t i = 0; i < pooled.size(); ++i) pooled[i] = 0.5f * (pooled[i] + largest[i]);
      return;
    }
    case Pooling::kAttention:
      return attention_of(*head.attention_pool, seen, workspace, pooled, attention);
    case Pooling::kClassAndMean:
      std::copy_n(tokens.row(0), tokens.cols, pooled.begin());
      return mean_of(seen, pooled.subspan(tokens.cols));
  }
}

/// Only what pooling reads needs the final norm: with a class token that is one row, or two.
void normalize_needed(const Head& head, MatrixView tokens, ThreadPool* pool) {
  const bool few = head.pooling == Pooling::kClass;
  const MatrixView needed = few ? tokens.row_range(0, head.distills ? 2 : 1) : tokens;
  normalize(head.final_norm, needed, needed, pool);
}

}  // namespace

void answer(const Head& head, MatrixView tokens, Workspace& workspace, HeadScratch& scratch,
            std::span<float> output, MatrixView attention) {
  normalize_needed(head, tokens, workspace.pool);
  scratch.pooled.resize(head.pooling == Pooling::kClassAndMean ? 2 * tokens.cols : tokens.cols);
  std::span<float> features = scratch.pooled;
  pool_tokens(head, tokens, workspace, features, attention);
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
