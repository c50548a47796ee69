/// Patches to the tokens that enter the encoder, forward and backward.
#pragma once

#include <span>

#include "vit/gradient/linear.h"

namespace vit::gradient {

template <typename T>
struct EmbeddingActivations {
  ConstView<T> patches;  ///< [B·N, 3·P·P], the caller's until backward() is done
  /// Which patches of its grid each image kept, image after image; empty: all, in order.
  std::span<const size_t> kept_patches{};
  size_t images = 1;             ///< B
  GrowingMatrix<T> projected;    ///< [B·N, D]
  GrowingMatrix<T> normed;       ///< only with a norm on the patches
  GrowingMatrix<T> before_norm;  ///< [B·T, D], only with a norm on all tokens
};

/// kept.patches to tokens [B·T, D].
template <typename T>
void embed(const EmbeddingPart<T>& part, EmbeddingActivations<T>& kept, View<T> tokens);

/// `dtokens`, overwritten on the way, to the gradients of the part and, if `dpatches` is not empty,
/// of the patches. `d` is memory for the gradients at what was kept.
template <typename T>
void embed_back(const EmbeddingPart<T>& part, const EmbeddingActivations<T>& kept,
                EmbeddingActivations<T>& d, View<T> dtokens, View<T> dpatches);

}  // namespace vit::gradient
