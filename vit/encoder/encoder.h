/// The shared multi-head-attention encoder: blocks over tokens.
#pragma once

#include <functional>
#include <vector>

#include "vit/encoder/block.h"

namespace vit {

struct Encoder {
  std::vector<Block> blocks;
};

/// The one hook into a running encoder. Absent, no attention matrix is ever built.
struct EncoderTaps {
  /// Softmax output of a layer, [H·T, T]: queries of head 0, then of head 1, … (layers with several
  /// attention branches hand over the heads of one after those of the other).
  std::function<void(size_t layer, ConstMatrixView attention)> attention;
  /// Tokens after a layer, [T, D].
  std::function<void(size_t layer, ConstMatrixView tokens)> block;
  /// Heads whose output is taken as zero (ablation), a list per layer; empty: none at all.
  std::vector<std::vector<size_t>> silenced;
};

/// What may accompany a sequence through an encoder.
struct EncoderInput {
  AttentionMask mask{};  ///< of every layer; not together with merge
  /// Merges tokens layer by layer, every block being one that can_merge(); null: none.
  TokenMerge* merge = nullptr;
  /// The encodings of the first so many tokens are wanted; 0: of all. The last layer then makes
  /// keys and values of every token and the rest for these alone, unless a tap looks at it or the
  /// mask is causal or has a bias for each query.
  size_t wanted = 0;
};

/// tokens [T, D] become their encodings, in place; returns the rows that are left: those wanted at
/// least. `workspace` must have room for workspace_shape().
MatrixView encode(const Encoder& encoder, MatrixView tokens, Workspace& workspace,
                  const EncoderTaps* taps = nullptr, const EncoderInput& input = {});

/// The next tokens of a sequence whose earlier ones are in `caches`, one per layer.
void encode_next(const Encoder& encoder, MatrixView tokens, Workspace& workspace,
                 std::vector<KeyValueCache>& caches);

/// Caches with room for `capacity` tokens.
std::vector<KeyValueCache> make_caches(const Encoder& encoder, size_t capacity);

WorkspaceShape workspace_shape(const Encoder& encoder, size_t tokens);

}  // namespace vit
