/// The shared multi-head-attention encoder: blocks over tokens.
///
/// Models of images call encode() without a mask. Text towers pass masks. Caches and encode_next()
/// would serve a decoder, which the toolkit does not have: only tests call them.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "vit/encoder/block.h"

namespace vit {

struct Encoder {
  std::vector<Block> blocks;
};

/// Observers of a running encoder; they change no bit of its result. Without an attention tap, no
/// attention matrix is ever built.
struct EncoderTaps {
  /// Softmax output of a layer, [H·T, T]: queries of head 0, then of head 1, … In layers with
  /// several attention branches, the heads of the branches follow one another.
  std::function<void(size_t layer, ConstMatrixView attention)> attention;
  /// Where tokens merge: what became of them up to here. Called after `attention`, before `block`.
  std::function<void(size_t layer, const MergedTokens& merged)> merged;
  /// Tokens after a layer, [T, D].
  std::function<void(size_t layer, ConstMatrixView tokens)> block;
};

/// What changes the result of an encoder.
struct EncoderInput {
  AttentionMask mask{};  ///< of every layer; not together with merge
  /// Merges tokens after each layer; every block must be one that can_merge(). Null: none.
  TokenMerge* merge = nullptr;
  /// Encodings of the first N tokens are needed (0 = all). The last layer then computes keys and
  /// values of every token and everything else for these only, unless a tap observes the layer, or
  /// the mask is causal or has a bias for each head.
  size_t needed_tokens = 0;
  /// For each layer the heads whose output is zero; empty: none.
  std::span<const std::vector<size_t>> disabled_heads{};
  /// Reads the tokens [T, D] after each layer but the last, for a head that needs them. Unlike a
  /// tap it leaves the last layer free to compute the needed tokens only.
  std::function<void(size_t layer, ConstMatrixView tokens)> read_layer{};
  /// Earlier layers are skipped: `tokens` are what enters this one, and `merge` is resumed with
  /// what they merged.
  size_t first_layer = 0;
};

/// Replaces tokens [T, D] by their encodings, in place. Returns the rows that are up to date, at
/// least those needed. The workspace must have room for workspace_shape().
MatrixView encode(const Encoder& encoder, MatrixView tokens, const Resources& resources,
                  const EncoderTaps* taps = nullptr, const EncoderInput& input = {});

/// Encodes the next tokens of a sequence whose earlier ones are in `caches`, one per layer.
void encode_next(const Encoder& encoder, MatrixView tokens, const Resources& resources,
                 std::vector<KeyValueCache>& caches);

/// Caches with room for `capacity` tokens, one per layer.
std::vector<KeyValueCache> make_caches(const Encoder& encoder, size_t capacity);

WorkspaceShape workspace_shape(const Encoder& encoder, size_t tokens);

}  // namespace vit
