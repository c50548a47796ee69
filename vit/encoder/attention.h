/// Multi-head attention, the only one in the library. Queries come from one sequence; keys and
/// values come from the same sequence, from another one, or from a cache.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "vit/encoder/cache.h"
#include "vit/encoder/rotary.h"
#include "vit/encoder/talking_heads.h"
#include "vit/encoder/workspace.h"
#include "vit/kernels/attention_kernel.h"
#include "vit/kernels/linear.h"
#include "vit/kernels/rowwise.h"

namespace vit {

/// Differential attention subtracts a second softmax from the first: pairs of half-wide query and
/// key heads share one value head; output = (1 - initial) · norm(first - lambda · second).
struct Differential {
  float lambda = 0.0f;
  float initial = 0.0f;
  Norm norm;
};

/// `rotary`, `offsets` and `talking` are for self-attention without a mask.
struct Attention {
  Linear qkv;        ///< self-attention: queries, then keys, then values
  Linear query;      ///< cross-attention instead of qkv
  Linear key_value;  ///< cross-attention: keys, then values
  Norm query_norm;   ///< on each head separately, or none
  Norm key_norm;
  Norm output_norm;  ///< on the heads' concatenation, before the projection, or none
  Linear project;    ///< W_O
  size_t heads = 1;
  size_t key_value_heads = 1;
  float temperature = 1.0f;  ///< of the softmax over the keys
  std::optional<Differential> differential;
  TalkingHeads talking;                       ///< empty: the heads do not
  std::shared_ptr<const Rotary> rotary;       ///< of queries and keys, or none
  std::shared_ptr<const OffsetBias> offsets;  ///< added to the scores, or none

  /// What ties the scores to the places of the tokens, which must then all be there, in order.
  bool knows_places() const { return rotary != nullptr || offsets != nullptr; }
  bool crosses() const { return qkv.empty(); }
  /// H·d, the width of the queries and of the concatenated heads.
  size_t query_width() const { return crosses() ? query.out : qkv.out - key_width() * 2; }
  size_t key_width() const {
    return crosses() ? key_value.out / 2
                     : qkv.out / (heads + 2 * key_value_heads) * key_value_heads;
  }
};

struct AttentionInput {
  ConstMatrixView tokens{};  ///< [T, D], where the queries come from
  /// Compute queries for the first N tokens only (0 = all). Self-attention only, and not with a
  /// causal mask or one for each head.
  size_t needed_tokens = 0;
  ConstMatrixView memory{};  ///< [S, D], the other sequence in cross-attention
  AttentionMask mask{};
  KeyValueCache* cache = nullptr;            ///< self-attention over the tokens seen so far
  MatrixView probabilities{};                ///< [H·queries, keys], filled if not empty
  std::span<const size_t> disabled_heads{};  ///< heads whose output is zero, numbered from …
  size_t first_head = 0;                     ///< … this one; those of other branches do not count
};

/// y = epilogue(W_O · concat(heads)), one row per query. The workspace must have room for
/// workspace_shape().
void attend(const Attention& attention, const AttentionInput& input, const Resources& resources,
            MatrixView y, const Epilogue& epilogue = {});

/// The keys of the self-attention that ran last on this workspace, [T, KV·d].
ConstMatrixView last_keys(const Attention& attention, size_t tokens, Workspace& workspace);

/// Buffers of attend() for sequences of `tokens`, and of `memory` tokens in cross-attention.
WorkspaceShape workspace_shape(const Attention& attention, size_t tokens, size_t memory = 0);

}  // namespace vit
