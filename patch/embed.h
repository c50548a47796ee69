/// Patches to the tokens that enter the encoder: projected, prefix tokens in front, positions
/// added.
#pragma once

#include "patch/stem.h"
#include "vit/base/config.h"
#include "vit/base/matrix.h"
#include "vit/kernels/linear.h"
#include "vit/kernels/rowwise.h"

namespace vit::patch {

/// All ready for one grid: nothing is resampled per image.
struct PatchEmbedding {
  PatchStem stem;    ///< what patches pass through before embed(), or none
  Linear project;    ///< the convolution kernel, [D, 3·P·P]
  Norm norm;         ///< on the projected patches, before positions, or none
  Matrix prefix;     ///< [prefix tokens, D], their positions already added
  Matrix positions;  ///< [N, D], or empty
  Norm pre_norm;     ///< on all tokens (CLIP), or none

  size_t tokens(size_t patches) const { return prefix.rows() + patches; }
};

/// patches [N, 3·P·P] to tokens [prefix + N, D].
void embed(const PatchEmbedding& embedding, ConstMatrixView patches, MatrixView tokens,
           const Execution& execution);

}  // namespace vit::patch
