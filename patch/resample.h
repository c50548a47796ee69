/// Resizing that equals Pillow's to the byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "patch/image/image.h"
#include "vit/base/recipe.h"
#include "vit/kernels/cpu.h"

namespace vit::patch {

/// A rectangle of the resized image, which itself is never built.
struct ResizeWindow {
  size_t resized_width = 0;
  size_t resized_height = 0;
  size_t x = 0;
  size_t y = 0;
  size_t width = 0;
  size_t height = 0;
};

/// The weights of one direction: output i reads `counts[i]` inputs from `firsts[i]` on.
struct ResampleFilter {
  size_t stride = 0;  ///< weights per output
  std::vector<size_t> firsts;
  std::vector<size_t> counts;
  std::vector<std::int32_t> weights;  ///< 22 fractional bits
  std::vector<double> exact;          ///< the same before they are rounded
};

/// What a resize needs on the way; keep it to resize many images without allocating.
struct ResampleScratch {
  ResampleFilter across;
  ResampleFilter down;
  std::vector<std::uint8_t> columns;       ///< a block of input rows, turned so that rows are lanes
  std::vector<std::uint8_t> turned;        ///< the same block after the horizontal pass
  std::vector<std::uint8_t> intermediate;  ///< rows after the horizontal pass
  std::vector<float> fractions;            ///< the same where nothing is rounded to bytes
};

/// What a resize runs on. Every instruction set gives the same bytes.
struct ResampleResources {
  ResampleScratch& scratch;
  Isa isa;
};

/// The whole image at another size, as Pillow's Image.resize makes it. The instruction set has a
/// default here, because no byte depends on it.
Image resize(const Image& image, size_t width, size_t height, Interpolation interpolation,
             Isa isa = active_isa());

/// The same bytes as resize() and then cropping, at the cost of the window alone.
Image resize_window(const Image& image, const ResizeWindow& window, Interpolation interpolation,
                    Isa isa = active_isa());
void resize_window(const Image& image, const ResizeWindow& window, Interpolation interpolation,
                   const ResampleResources& resources, Image& resized);

/// The same without rounding to bytes, as torch resizes floats: row after row of RGB in 0..255.
/// Not for kNearest, which rounds nothing.
void resize_window_in_float(const Image& image, const ResizeWindow& window,
                            Interpolation interpolation, ResampleScratch& scratch,
                            std::vector<float>& resized);

}  // namespace vit::patch
