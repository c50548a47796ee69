/// Patches to the tokens that enter the encoder, with the way back.
#pragma once

#include <span>
#include <vector>

#include "vit/gradient/linear.h"

namespace vit::gradient {

struct EmbeddingRule {
  size_t images = 1;  ///< B
  /// Which patches of its grid each image kept, image after image; empty: all, in order.
  std::span<const size_t> kept{};
  size_t grid = 0;  ///< patches of a whole image
  std::vector<PrefixToken> prefix;
  NormRule norm;
};

template <typename T>
struct EmbeddingTrace {
  ConstView<T> patches;    ///< the caller's; must stay until the way back is done
  Numbers<T> projected;    ///< [B·N, D]
  Numbers<T> normed;       ///< only with a norm on the patches
  Numbers<T> before_norm;  ///< [B·T, D], only with a norm on all tokens
};

/// `positions` [covered prefix + N, D] is the table to add, or empty.
/// patches [B·N, 3·P·P] to tokens [B·T, D].
template <typename T>
void embed(const EmbeddingRule& rule, const EmbeddingPart<const T>& part, ConstView<T> positions,
           EmbeddingTrace<T>& trace, View<T> tokens);

template <typename T>
struct EmbeddingBack {
  const EmbeddingPart<const T>& part;
  const EmbeddingPart<T>& gradients;
  const EmbeddingTrace<T>& trace;
  Numbers<T>& scratch;
};

/// `gradient` at the tokens, overwritten on the way, to that of every part and, if `dpatches` is
/// not empty, of the patches.
template <typename T>
void embed_back(const EmbeddingRule& rule, const EmbeddingBack<T>& back, View<T> gradient,
                View<T> dpatches);

}  // namespace vit::gradient
