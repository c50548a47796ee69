/// One layer of the encoder.
#pragma once

#include <vector>

#include "vit/encoder/attention.h"
#include "vit/encoder/merge.h"
#include "vit/encoder/mlp.h"

namespace vit {

/// A sublayer with its norm and layer scale (empty: 1).
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

/// Where the norms stand is `kind`; see BlockKind. All but pre-norm blocks have one branch of each.
struct Block {
  BlockKind kind = BlockKind::kPreNorm;
  std::vector<AttentionBranch> attention;
  std::vector<MlpBranch> mlp;
};

/// What may accompany a sequence through a block.
struct BlockInput {
  AttentionMask mask{};
  KeyValueCache* cache = nullptr;
  /// [H·T, keys], or one such matrix after the other for several branches; filled if not empty.
  MatrixView probabilities{};
  /// Heads whose output is taken as zero, counted through the branches.
  std::span<const size_t> silenced{};
  /// Merges tokens between attention and MLP, in pre-norm blocks of one branch; null: none.
  TokenMerge* merge = nullptr;
  /// Only the first so many tokens are wanted, none of which merge; 0: all.
  size_t wanted = 0;
};

/// tokens [T, D] are updated in place; the rows that are left are returned: all, unless they merge
/// or are not wanted.
MatrixView forward(const Block& block, const BlockInput& input, Workspace& workspace,
                   MatrixView tokens);

bool can_merge(const Block& block);

WorkspaceShape workspace_shape(const Block& block, size_t tokens);

}  // namespace vit
