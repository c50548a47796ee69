#include "patch/stem.h"

#include <cassert>

namespace vit::patch {
namespace {

constexpr size_t kPatch = 16, kSide = 4, kPlaces = 4, kChannels = 3;

/// Squares of 4x4 pixels as rows, the four of each quarter of the patch below one another, and the
/// quarters too: what the next layer reads is then one row.
void cut(ConstMatrixView patches, MatrixView squares) {
  for (size_t r = 0; r < squares.rows; ++r) {
    const size_t quarter = r / kPlaces % kPlaces, square = r % kPlaces;
    const size_t top = kSide * (2 * (quarter / 2) + square / 2);
    const size_t left = kSide * (2 * (quarter % 2) + square % 2);
    const float* patch = patches.row(r / (kPlaces * kPlaces));
    float* to = squares.row(r);
    for (size_t channel = 0; channel < kChannels; ++channel)
      for (size_t y = 0; y < kSide; ++y)
        for (size_t x = 0; x < kSide; ++x)
          *to++ = patch[(channel * kPatch + top + y) * kPatch + left + x];
  }
}

}  // namespace

void apply_stem(const PatchStem& stem, MatrixView patches, const Execution& execution) {
  if (stem.empty()) return;
  const size_t channels = stem.pixels.out, quarters = patches.rows * kPlaces;
  assert(patches.cols == kChannels * kPatch * kPatch && patches.cols == kPlaces * channels);
  Matrix squares(quarters * kPlaces, stem.pixels.in);
  Matrix inner(quarters, kPlaces * channels), outer(quarters, channels);
  cut(patches, squares);
  const Epilogue gelu{.activation = Activation::kGelu};
  apply(stem.pixels, squares, {inner.data(), quarters * kPlaces, channels}, gelu, execution.pool);
  apply(stem.places, inner, outer, gelu, execution.pool);
  for (size_t r = 0; r < quarters; ++r)
    for (size_t c = 0; c < channels; ++c)
      patches(r / kPlaces, c * kPlaces + r % kPlaces) = outer(r, c);
}

}  // namespace vit::patch
