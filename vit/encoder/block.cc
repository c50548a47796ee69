#include "vit/encoder/block.h"

#include <cassert>

namespace vit {
namespace {

AttentionInput self_attention(const BlockInput& input, ConstMatrixView tokens, size_t branch = 0,
                              size_t branches = 1) {
  MatrixView probabilities = input.probabilities;
  if (!probabilities.empty()) {
    const size_t rows = probabilities.rows / branches;
    probabilities = probabilities.row_range(branch * rows, rows);
  }
  return {.tokens = tokens,
          .needed_tokens = input.needed_tokens,
          .memory = {},
          .mask = input.mask,
          .cache = input.cache,
          .probabilities = probabilities,
          .disabled_heads = input.disabled_heads};
}

/// The rows of x that the block must update.
MatrixView needed_rows(const BlockInput& input, MatrixView x) {
  return input.needed_tokens == 0 ? x : x.row_range(0, input.needed_tokens);
}

/// x += scale · attention(norm(x)); x += scale · mlp(norm(x)).
MatrixView forward_pre_norm(const Block& block, const BlockInput& input, const Resources& resources,
                            MatrixView x) {
  const MatrixView normed = resources.workspace.normed(x.rows, x.cols);
  MatrixView needed = needed_rows(input, x);
  const AttentionBranch& attention = block.attention.front();
  normalize(attention.norm, x, normed, resources.execution);
  attend(attention.attention, self_attention(input, normed), resources, needed,
         {.layer_scale = attention.layer_scale, .residual = needed});
  if (input.merge != nullptr && input.needed_tokens == 0)
    needed = input.merge->merge(last_keys(attention.attention, x.rows, resources.workspace),
                                attention.attention.key_value_heads, x, resources.execution.isa);

  const MlpBranch& mlp = block.mlp.front();
  const MatrixView left = normed.row_range(0, needed.rows);
  normalize(mlp.norm, needed, left, resources.execution);
  feed_forward(mlp.mlp, left, resources, needed,
               {.layer_scale = mlp.layer_scale, .residual = needed});
  return needed;
}

/// As above, but several branches read the same x before any of them changes it.
MatrixView forward_branches(const Block& block, const BlockInput& input, const Resources& resources,
                            MatrixView x) {
  const MatrixView normed = resources.workspace.normed(x.rows, x.cols);
  const MatrixView needed = needed_rows(input, x);
  const MatrixView sum = resources.workspace.update(needed.rows, x.cols);
  copy_rows(needed, sum);
  size_t first_head = 0;
  for (size_t i = 0; i < block.attention.size(); ++i) {
    const AttentionBranch& branch = block.attention[i];
    normalize(branch.norm, x, normed, resources.execution);
    AttentionInput attention = self_attention(input, normed, i, block.attention.size());
    attention.first_head = first_head;
    first_head += branch.attention.heads;
    attend(branch.attention, attention, resources, sum,
           {.layer_scale = branch.layer_scale, .residual = sum});
  }
  copy_rows(sum, needed);
  const MatrixView left = normed.row_range(0, needed.rows);
  for (const MlpBranch& branch : block.mlp) {
    normalize(branch.norm, needed, left, resources.execution);
    feed_forward(branch.mlp, left, resources, sum,
                 {.layer_scale = branch.layer_scale, .residual = sum});
  }
  copy_rows(sum, needed);
  return needed;
}

/// x = norm(x + attention(x)); x = norm(x + mlp(x)).
MatrixView forward_post_norm(const Block& block, const BlockInput& input,
                             const Resources& resources, MatrixView x) {
  const MatrixView needed = needed_rows(input, x);
  const AttentionBranch& attention = block.attention.front();
  attend(attention.attention, self_attention(input, x), resources, needed,
         {.layer_scale = attention.layer_scale, .residual = needed});
  normalize(attention.norm, needed, needed, resources.execution);

  const MlpBranch& mlp = block.mlp.front();
  feed_forward(mlp.mlp, needed, resources, needed,
               {.layer_scale = mlp.layer_scale, .residual = needed});
  normalize(mlp.norm, needed, needed, resources.execution);
  return needed;
}

/// x += norm(attention(x)); x += norm(mlp(x)).
MatrixView forward_residual_post_norm(const Block& block, const BlockInput& input,
                                      const Resources& resources, MatrixView x) {
  const MatrixView needed = needed_rows(input, x);
  const MatrixView update = resources.workspace.update(needed.rows, x.cols);
  const AttentionBranch& attention = block.attention.front();
  attend(attention.attention, self_attention(input, x), resources, update);
  normalize(attention.norm, update, update, resources.execution);
  add(update, attention.layer_scale, needed, resources.execution);

  const MlpBranch& mlp = block.mlp.front();
  feed_forward(mlp.mlp, needed, resources, update);
  normalize(mlp.norm, update, update, resources.execution);
  add(update, mlp.layer_scale, needed, resources.execution);
  return needed;
}

/// n = norm(x); x += scale · (attention(n) + mlp(n)).
MatrixView forward_parallel(const Block& block, const BlockInput& input, const Resources& resources,
                            MatrixView x) {
  const MatrixView needed = needed_rows(input, x);
  const AttentionBranch& attention = block.attention.front();
  const MatrixView normed = resources.workspace.normed(x.rows, x.cols);
  normalize(attention.norm, x, normed, resources.execution);
  attend(attention.attention, self_attention(input, normed), resources, needed,
         {.layer_scale = attention.layer_scale, .residual = needed});
  feed_forward(block.mlp.front().mlp, normed.row_range(0, needed.rows), resources, needed,
               {.layer_scale = attention.layer_scale, .residual = needed});
  return needed;
}

}  // namespace

bool can_merge(const Block& block) {
  if (block.kind != BlockKind::kPreNorm || block.attention.size() != 1) return false;
  const Attention& attention = block.attention.front().attention;
  return !attention.knows_places() && attention.talking.empty();
}

MatrixView forward(const Block& block, const BlockInput& input, const Resources& resources,
                   MatrixView tokens) {
  assert(block.kind == BlockKind::kPreNorm || block.attention.size() == 1);
  assert(input.cache == nullptr || block.attention.size() == 1);
  assert(input.merge == nullptr || can_merge(block));
  switch (block.kind) {
    case BlockKind::kPreNorm:
      break;
    case BlockKind::kPostNorm:
      return forward_post_norm(block, input, resources, tokens);
    case BlockKind::kResidualPostNorm:
      return forward_residual_post_norm(block, input, resources, tokens);
    case BlockKind::kParallel:
      return forward_parallel(block, input, resources, tokens);
  }
  return block.attention.size() == 1 ? forward_pre_norm(block, input, resources, tokens)
                                     : forward_branches(block, input, resources, tokens);
}

WorkspaceShape workspace_shape(const Block& block, size_t tokens) {
  WorkspaceShape shape;
  for (const AttentionBranch& branch : block.attention)
    shape = larger_of(shape, workspace_shape(branch.attention, tokens));
  for (const MlpBranch& branch : block.mlp)
    shape = larger_of(shape, workspace_shape(branch.mlp, tokens));
  return shape;
}

}  // namespace vit
