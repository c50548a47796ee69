#include "vit/encoder/block.h"

#include <algorithm>
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
          .asking = input.wanted,
          .memory = {},
          .mask = input.mask,
          .cache = input.cache,
          .probabilities = probabilities,
          .silenced = input.silenced};
}

/// The rows of x that the block must bring up to date.
MatrixView wanted_rows(const BlockInput& input, MatrixView x) {
  return input.wanted == 0 ? x : x.row_range(0, input.wanted);
}

/// Those of `heads` that belong to a branch, as it counts them.
std::vector<size_t> heads_of_branch(std::span<const size_t> heads, const Block& block,
                                    size_t branch) {
  size_t first = 0;
  for (size_t i = 0; i < branch; ++i) first += block.attention[i].attention.heads;
  std::vector<size_t> own;
  for (const size_t head : heads)
    if (head >= first && head - first < block.attention[branch].attention.heads)
      own.push_back(head - first);
  return own;
}

/// x += scale · attention(norm(x)); x += scale · mlp(norm(x)).
MatrixView forward_pre_norm(const Block& block, const BlockInput& input, Workspace& workspace,
                            MatrixView x) {
  const MatrixView normed = workspace.normed(x.rows, x.cols);
  MatrixView wanted = wanted_rows(input, x);
  const AttentionBranch& attention = block.attention.front();
  normalize(attention.norm, x, normed, workspace.pool);
  attend(attention.attention, self_attention(input, normed), workspace, wanted,
         {.layer_scale = attention.layer_scale, .residual = wanted});
  if (input.merge != nullptr && input.wanted == 0)
    wanted = input.merge->merge(last_keys(attention.attention, x.rows, workspace),
                                attention.attention.key_value_heads, x);

  const MlpBranch& mlp = block.mlp.front();
  const MatrixView left = normed.row_range(0, wanted.rows);
  normalize(mlp.norm, wanted, left, workspace.pool);
  feed_forward(mlp.mlp, left, workspace, wanted,
               {.layer_scale = mlp.layer_scale, .residual = wanted});
  return wanted;
}

void copy(ConstMatrixView from, MatrixView to) {
  for (size_t r = 0; r < from.rows; ++r) std::copy_n(from.row(r), from.cols, to.row(r));
}

/// As above, but several branches read the same x before any of them changes it.
MatrixView forward_branches(const Block& block, const BlockInput& input, Workspace& workspace,
                            MatrixView x) {
  const MatrixView normed = workspace.normed(x.rows, x.cols);
  const MatrixView wanted = wanted_rows(input, x);
  const MatrixView sum = workspace.update(wanted.rows, x.cols);
  copy(wanted, sum);
  for (size_t i = 0; i < block.attention.size(); ++i) {
    const AttentionBranch& branch = block.attention[i];
    normalize(branch.norm, x, normed, workspace.pool);
    AttentionInput attention = self_attention(input, normed, i, block.attention.size());
    const auto silenced = heads_of_branch(input.silenced, block, i);
    attention.silenced = silenced;
    attend(branch.attention, attention, workspace, sum,
           {.layer_scale = branch.layer_scale, .residual = sum});
  }
  copy(sum, wanted);
  const MatrixView left = normed.row_range(0, wanted.rows);
  for (const MlpBranch& branch : block.mlp) {
    normalize(branch.norm, wanted, left, workspace.pool);
    feed_forward(branch.mlp, left, workspace, sum,
                 {.layer_scale = branch.layer_scale, .residual = sum});
  }
  copy(sum, wanted);
  return wanted;
}

/// x = norm(x + attention(x)); x = norm(x + mlp(x)).
MatrixView forward_post_norm(const Block& block, const BlockInput& input, Workspace& workspace,
                             MatrixView x) {
  const MatrixView wanted = wanted_rows(input, x);
  const AttentionBranch& attention = block.attention.front();
  attend(attention.attention, self_attention(input, x), workspace, wanted,
         {.layer_scale = attention.layer_scale, .residual = wanted});
  normalize(attention.norm, wanted, wanted, workspace.pool);

  const MlpBranch& mlp = block.mlp.front();
  feed_forward(mlp.mlp, wanted, workspace, wanted,
               {.layer_scale = mlp.layer_scale, .residual = wanted});
  normalize(mlp.norm, wanted, wanted, workspace.pool);
  return wanted;
}

/// x += norm(attention(x)); x += norm(mlp(x)).
MatrixView forward_residual_post_norm(const Block& block, const BlockInput& input,
                                      Workspace& workspace, MatrixView x) {
  const MatrixView wanted = wanted_rows(input, x);
  const MatrixView update = workspace.update(wanted.rows, x.cols);
  const AttentionBranch& attention = block.attention.front();
  attend(attention.attention, self_attention(input, x), workspace, update);
  normalize(attention.norm, update, update, workspace.pool);
  add(update, attention.layer_scale, wanted, workspace.pool);

  const MlpBranch& mlp = block.mlp.front();
  feed_forward(mlp.mlp, wanted, workspace, update);
  normalize(mlp.norm, update, update, workspace.pool);
  add(update, mlp.layer_scale, wanted, workspace.pool);
  return wanted;
}

/// n = norm(x); x += scale · (attention(n) + mlp(n)).
MatrixView forward_parallel(const Block& block, const BlockInput& input, Workspace& workspace,
                            MatrixView x) {
  const MatrixView wanted = wanted_rows(input, x);
  const AttentionBranch& attention = block.attention.front();
  const MatrixView normed = workspace.normed(x.rows, x.cols);
  normalize(attention.norm, x, normed, workspace.pool);
  attend(attention.attention, self_attention(input, normed), workspace, wanted,
         {.layer_scale = attention.layer_scale, .residual = wanted});
  feed_forward(block.mlp.front().mlp, normed.row_range(0, wanted.rows), workspace, wanted,
               {.layer_scale = attention.layer_scale, .residual = wanted});
  return wanted;
}

}  // namespace

bool can_merge(const Block& block) {
  return block.kind == BlockKind::kPreNorm && block.attention.size() == 1;
}

MatrixView forward(const Block& block, const BlockInput& input, Workspace& workspace,
                   MatrixView tokens) {
  assert(block.kind == BlockKind::kPreNorm || block.attention.size() == 1);
  assert(input.cache == nullptr || block.attention.size() == 1);
  assert(input.merge == nullptr || can_merge(block));
  switch (block.kind) {
    case BlockKind::kPreNorm:
      break;
    case BlockKind::kPostNorm:
      return forward_post_norm(block, input, workspace, tokens);
    case BlockKind::kResidualPostNorm:
      return forward_residual_post_norm(block, input, workspace, tokens);
    case BlockKind::kParallel:
      return forward_parallel(block, input, workspace, tokens);
  }
  return block.attention.size() == 1 ? forward_pre_norm(block, input, workspace, tokens)
                                     : forward_branches(block, input, workspace, tokens);
}

WorkspaceShape workspace_shape(const Block& block, size_t tokens) {
  WorkspaceShape shape;
  for (const AttentionBranch& branch : block.attention)
    shape = merge(shape, workspace_shape(branch.attention, tokens));
  for (const MlpBranch& branch : block.mlp)
    shape = merge(shape, workspace_shape(branch.mlp, tokens));
  return shape;
}

}  // namespace vit
