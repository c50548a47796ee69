/// A checkpoint's recipe, followed: image to normalised pixels.
#pragma once

#include <cstddef>
#include <vector>

#include "patch/image/image.h"
#include "patch/resample.h"
#include "vit/base/matrix.h"
#include "vit/base/recipe.h"

namespace vit::patch {

/// One plane per channel, each row after row.
struct Pixels {
  size_t height = 0;
  size_t width = 0;
  Matrix planes;  ///< [3, height·width]
};

/// What apply_recipe() needs on the way; keep one per thread to allocate nothing per image.
struct RecipeScratch {
  ResampleScratch resample;
  Image resized;
  std::vector<float> resized_in_float;  ///< instead, where nothing is rounded to bytes
};

/// How an image lies on the crop: `window` of the resized image goes to (left, top) of the crop,
/// the rest of which is padding.
struct Placement {
  ResizeWindow window;
  size_t left = 0;
  size_t top = 0;
};

/// The geometry alone: sizes and offsets as timm, torchvision and Hugging Face round them.
Placement place(size_t width, size_t height, const Recipe& recipe);

/// Resizes, crops and normalises. The result is crop_height x crop_width.
Pixels apply_recipe(const Image& image, const Recipe& recipe);
/// The same into `planes`, [3, crop_height·crop_width].
void apply_recipe(const Image& image, const Recipe& recipe, RecipeScratch& scratch,
                  MatrixView planes, Isa isa);

}  // namespace vit::patch
