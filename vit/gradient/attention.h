/// Multi-head attention, forward and backward. A batch is B sequences of equal length, one after
/// the other.
#pragma once

#include <functional>

#include "vit/gradient/places.h"
#include "vit/gradient/talking_heads.h"

namespace vit::gradient {

/// The attention of one image: queries of head 0, then of head 1, …; [H·T, keys].
template <typename T>
struct AttentionTap {
  size_t layer = 0;
  size_t branch = 0;
  size_t image = 0;  ///< of the batch
  ConstView<T> probabilities{};
  ConstView<T> gradient{};  ///< of what backward() was given, with respect to the probabilities
};

template <typename T>
using AttentionHook = std::function<void(const AttentionTap<T>&)>;

/// A hook, which may be empty, and the place in the model that it is called for.
template <typename T>
struct HookAt {
  const AttentionHook<T>& hook;
  size_t layer = 0;
  size_t branch = 0;

  HookAt of_branch(size_t index) const { return {hook, layer, index}; }
  void operator()(size_t image, ConstView<T> probabilities, ConstView<T> gradient) const {
    if (hook) hook({layer, branch, image, probabilities, gradient});
  }
};

template <typename T>
struct AttentionActivations {
  GrowingMatrix<T> raw;  ///< [B·T, (H+KV)·d] queries and keys before q/k norm, if there is one
  GrowingMatrix<T> qkv;  ///< [B·T, (H+2·KV)·d]
  GrowingMatrix<T> probabilities;  ///< [B·H·T, T]; of gradients one image's, [H·T, T]
  TalkingActivations<T> talking;
  GrowingMatrix<T> context;         ///< [B·T, H·d]
  GrowingMatrix<T> normed_context;  ///< only with a norm before the projection
  PlaceActivations<T> places;
  GrowingMatrix<T> pair_bias;  ///< [H·T, T] of one image, only with a relative position bias
  size_t images = 0;           ///< B
  KeptPatches kept_patches{};  ///< of all images; empty: each has all its patches

  /// Of one image.
  KeptPatches patches(size_t image) const {
    const size_t each = kept_patches.size() / images;
    return kept_patches.subspan(image * each, each);
  }
};

/// x, y: [B·T, D]; kept.images and kept.kept_patches are set. `accumulate`: y is added to.
template <typename T>
void attend(const AttentionPart<T>& part, ConstView<T> x, AttentionActivations<T>& kept, View<T> y,
            bool accumulate = false);

/// `d` is memory for the gradients at what was kept.
template <typename T>
void attend_back(const AttentionPart<T>& part, AttentionActivations<T>& kept,
                 AttentionActivations<T>& d, const Back<T>& back, const HookAt<T>& hook);

}  // namespace vit::gradient
