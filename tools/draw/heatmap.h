/// Heat maps: numbers per patch over an image.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/draw/canvas.h"
#include "vit/base/config.h"
#include "vit/base/enum_names.h"

namespace vit::tools {

enum class Upsampling { kNearest, kBilinear, kBicubic };

constexpr auto enum_names(Upsampling) {
  using enum Upsampling;
  return std::to_array<EnumName<Upsampling>>(
      {{kNearest, "nearest"}, {kBilinear, "bilinear"}, {kBicubic, "bicubic"}});
}

/// Maps `low` and below to the first colour, `high` and above to the last.
struct ColourScale {
  Colormap colormap = Colormap::kInferno;
  double low = 0.0;
  double high = 1.0;

  /// From 0 to 1; NaN is 0, so that every number has a colour.
  double place(double value) const;
  size_t index(double value) const;  ///< 0 to 255
};

/// A number per pixel from one per patch; patches are equal parts of the picture.
std::vector<float> upsampled(std::span<const float> map, GridSize grid, const Box& size,
                             Upsampling upsampling);

struct OverlayLook {
  ColourScale scale{};
  double alpha = 0.6;  ///< 0: the image alone; 1: the colours alone
  Upsampling upsampling = Upsampling::kBicubic;
};

/// The image at half saturation under the colours of the map. The image is more visible where the
/// map is low: alpha has the exponent 2 there, and 1 where the map is high.
Image overlay(const Image& image, std::span<const float> map, GridSize grid,
              const OverlayLook& look);

/// The colours alone, a cell per number.
Image heat_cells(std::span<const float> numbers, size_t cols, size_t cell,
                 const ColourScale& scale);

/// The edges between members and others, and the border where members touch it.
void contour(Image& image, std::span<const std::uint8_t> members, GridSize grid, Colour colour);

/// The box of a patch on a picture of the whole grid.
Box patch_box(const Image& image, GridSize grid, size_t row, size_t col);

/// A vertical bar with ticks at its right, as high as `box`; numbers are written by `format`
/// ("%.1f") after multiplication by `factor`.
struct BarLabels {
  std::string title{};
  std::string format = "%.3g";
  double factor = 1.0;
  std::string unit{};
  bool rooted = false;   ///< the scale is of square roots; the numbers are not
  bool clipped = false;  ///< numbers beyond `high` exist: the bar ends in a tip
};
constexpr size_t kBarWidth = 112;  ///< with its labels
void colour_bar(Picture& picture, const Box& box, const ColourScale& scale,
                const BarLabels& labels);

/// Three to seven multiples of 1, 2 or 5 times a power of ten, between two numbers.
std::vector<double> round_numbers(double low, double high);

}  // namespace vit::tools
