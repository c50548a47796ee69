/// Pixels to patches.
#pragma once

#include <cstddef>

#include "patch/recipe.h"
#include "vit/base/config.h"
#include "vit/base/matrix.h"

namespace vit::patch {

/// How many patches fit exactly. Throws an Error that names the nearest sizes if the image is no
/// multiple: for sizes that a user chooses.
GridSize patch_grid(size_t height, size_t width, size_t patch_height, size_t patch_width);

/// Cuts the image into patches, left to right, then top to bottom. A patch is channel after
/// channel, each row after row: the order of a convolution kernel [D, 3, P, P]. As in a convolution
/// without padding, a rest at the right and bottom is left out (SigLIP's 384 pixels hold 27 patches
/// of 14). patches: [N, 3·P·P].
void patchify(const Pixels& pixels, size_t patch_height, size_t patch_width, MatrixView patches);

/// The same from planes [3, height·width] that lie elsewhere.
void patchify(ConstMatrixView planes, size_t width, size_t patch_height, size_t patch_width,
              MatrixView patches);

}  // namespace vit::patch
