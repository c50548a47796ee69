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

StemScratch::StemScratch(const PatchStem& stem, size_t patches) {
  if (stem.empty()) return;
  const size_t channels = stem.pixels.out, quarters = patches * kPlaces;
  squares = Matrix(quarters * kPlaces, stem.pixels.in);
  inner = Matrix(quarters, kPlaces * channels);
  outer = Matrix(quarters, channels);
}

void apply_stem(const PatchStem& stem, MatrixView patches, StemScratch& scratch,
                const Execution& execution) {
  if (stem.empty()) return;
  const size_t channels = stem.pixels.out, quarters = patches.rows * kPlaces;
  assert(patches.cols == kChannels * kPatch * kPatch && patches.cols == kPlaces * channels);
  assert(scratch.outer.rows() == quarters && scratch.outer.cols() == channels);
  cut(patches, scratch.squares);
  const Epilogue gelu{.activation = Activation::kGelu};
  const MatrixView places{scratch.inner.data(), quarters * kPlaces, channels};
  apply(stem.pixels, scratch.squares, places, execution, gelu);
  apply(stem.places, scratch.inner, scratch.outer, execution, gelu);
  for (size_t r = 0; r < quarters; ++r)
    for (size_t c = 0; c < channels; ++c)
      patches(r / kPlaces, c * kPlaces + r % kPlaces) = scratch.outer(r, c);
}

}  // namespace vit::patch
