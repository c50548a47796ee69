#include "patch/patchify.h"

#include <algorithm>
#include <cassert>
#include <string>

#include "vit/base/error.h"

namespace vit::patch {
namespace {

/// "208 or 224": the multiples of `patch` around `edge`.
std::string nearest_multiples(size_t edge, size_t patch) {
  const size_t below = edge / patch * patch;
  const std::string above = std::to_string(below + patch);
  return below == 0 ? above : std::to_string(below) + " or " + above;
}

void check_edge(const char* name, size_t edge, size_t patch) {
  if (edge == 0 || edge % patch != 0)
    fail("image ", name, " ", edge, " is not a multiple of the patch ", name, " ", patch,
         "; choose ", nearest_multiples(edge, patch));
}

}  // namespace

GridSize patch_grid(size_t height, size_t width, size_t patch_height, size_t patch_width) {
  if (patch_height == 0 || patch_width == 0)
    fail("patch size ", patch_height, "x", patch_width, ": both must be at least 1");
  check_edge("height", height, patch_height);
  check_edge("width", width, patch_width);
  return {height / patch_height, width / patch_width};
}

void patchify(ConstMatrixView planes, size_t width, size_t patch_height, size_t patch_width,
              MatrixView patches) {
  assert(width != 0 && planes.cols % width == 0);
  const GridSize grid{planes.cols / width / patch_height, width / patch_width};
  const size_t area = patch_height * patch_width;
  assert(patches.rows == grid.count() && patches.cols == planes.rows * area);
  for (size_t patch = 0; patch < grid.count(); ++patch) {
    const size_t top = patch / grid.cols * patch_height;
    const size_t left = patch % grid.cols * patch_width;
    for (size_t channel = 0; channel < planes.rows; ++channel) {
      float* to = patches.row(patch) + channel * area;
      for (size_t y = 0; y < patch_height; ++y)
        std::copy_n(planes.row(channel) + (top + y) * width + left, patch_width,
                    to + y * patch_width);
    }
  }
}

void patchify(const Pixels& pixels, size_t patch_height, size_t patch_width, MatrixView patches) {
  patchify(pixels.planes, pixels.width, patch_height, patch_width, patches);
}

}  // namespace vit::patch
