/// One layer of the encoder.
#pragma once

#include <vector>

#include "vit/encoder/attention.h"
#include "vit/encoder/merge.h"
#include "vit/encoder/mlp.h"

namespace vit {

/// A sublayer with its norm and layer scale (empty = 1).
struct AttentionBranch {
  Norm norm;
  Attention attention;
  std::vector<float> layer_scale;
};
struct MlpBranch {
  Norm norm;
  Mlp mlp;
  std::vector<float> layer_scale;
};

/// `kind` says where the norms are, see BlockKind. Only pre-norm blocks may have several branches.
struct Block {
  BlockKind kind = BlockKind::kPreNorm;
  std::vector<AttentionBranch> attention;
  std::vector<MlpBranch> mlp;
};

/// What changes the result of a block, and where to write its attention.
struct BlockInput {
  AttentionMask mask{};
  KeyValueCache* cache = nullptr;
  /// [H·T, keys], filled if not empty; several branches write one such matrix after the other.
  MatrixView probabilities{};
  /// Heads whose output is zero, counted through the branches.
  std::span<const size_t> disabled_heads{};
  /// Merges tokens between attention and MLP of a block that can_merge(); null: none.
  TokenMerge* merge = nullptr;
  /// Update the first N tokens only (0 = all); none of them merges.
  size_t needed_tokens = 0;
};

/// Updates tokens [T, D] in place. Returns the rows that are up to date: fewer than T where tokens
/// merge or are not needed.
MatrixView forward(const Block& block, const BlockInput& input, const Resources& resources,
                   MatrixView tokens);

bool can_merge(const Block& block);

WorkspaceShape workspace_shape(const Block& block, size_t tokens);

}  // namespace vit
