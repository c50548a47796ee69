/// Convolutions whose kernels do not overlap, in front of the patch kernel (MobileCLIP-B). Each
/// sees one patch at a time, so the rest of the model needs no change.
#pragma once

#include "vit/base/matrix.h"
#include "vit/kernels/linear.h"
#include "vit/kernels/rowwise.h"

namespace vit::patch {

/// Of 16x16 pixels: 4x4 of them at 16 places, then 2x2 of the first's outputs at 4 places, each
/// followed by GELU. Batch norms are part of the weights.
struct PatchStem {
  Linear pixels;  ///< [C, 3·4·4], the columns channel after channel
  Linear places;  ///< [C, 4·C], the columns place after place

  bool empty() const { return pixels.empty(); }
};

/// What the two convolutions read and write for N patches; empty without a stem.
struct StemScratch {
  StemScratch(const PatchStem& stem, size_t patches);

  Matrix squares;  ///< [16·N, 3·4·4] pixels
  Matrix inner;    ///< [4·N, 4·C] outputs of the first
  Matrix outer;    ///< [4·N, C] outputs of the second
};

/// patches [N, 3·16·16] become as many numbers of the stem: channel after channel, 2x2 places each.
/// Nothing happens without a stem.
void apply_stem(const PatchStem& stem, MatrixView patches, StemScratch& scratch,
                const Execution& execution);

}  // namespace vit::patch
