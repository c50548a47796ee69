#include "tools/draw/heatmap.h"
#include "tools/output/format.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdio>

namespace vit::tools {
namespace {

/// The inputs that an output reads, and their weights; centres are at half coordinates.
struct Taps {
  std::array<size_t, 4> at{};
  std::array<float, 4> weight{};
};

/// Catmull and Rom's cubic through the neighbours: smooth, and exact at the centres.
std::array<float, 4> cubic(float t) {
  const float t2 = t * t, t3 = t2 * t;
  return {0.5f * (-t3 + 2.0f * t2 - t), 0.5f * (3.0f * t3 - 5.0f * t2 + 2.0f),
          0.5f * (-3.0f * t3 + 4.0f * t2 + t), 0.5f * (t3 - t2)};
}

Taps taps_of(size_t out, size_t outs, size_t ins, Upsampling upsampling) {
  const double place =
      (static_cast<double>(out) + 0.5) * static_cast<double>(ins) / static_cast<double>(outs);
  const double below = std::floor(place - 0.5);
  const auto t = static_cast<float>(place - 0.5 - below);
  Taps taps;
  for (size_t k = 0; k < 4; ++k)
    taps.at[k] = static_cast<size_t>(
        std::clamp(below + static_cast<double>(k) - 1.0, 0.0, static_cast<double>(ins - 1)));
  switch (upsampling) {
    case Upsampling::kNearest:
      taps.weight = {0.0f, t < 0.5f ? 1.0f : 0.0f, t < 0.5f ? 0.0f : 1.0f, 0.0f};
      break;
    case Upsampling::kBilinear:
      taps.weight = {0.0f, 1.0f - t, t, 0.0f};
      break;
    case Upsampling::kBicubic:
      taps.weight = cubic(t);
      break;
  }
  return taps;
}

double grey_of(const std::uint8_t* pixel) {
  return 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2];
}

}  // namespace

double ColourScale::place(double value) const {
  if (!(high > low)) return 0.0;
  const double share = (value - low) / (high - low);
  return std::isnan(share) ? 0.0 : std::clamp(share, 0.0, 1.0);
}

size_t ColourScale::index(double value) const {
  return static_cast<size_t>(std::lround(255.0 * place(value)));
}

std::vector<float> upsampled(std::span<const float> map, GridSize grid, const Box& size,
                             Upsampling upsampling) {
  assert(map.size() == grid.count());
  std::vector<float> across(size.width * grid.rows);  // rows of patches, columns of pixels
  for (size_t x = 0; x < size.width; ++x) {
    const Taps taps = taps_of(x, size.width, grid.cols, upsampling);
    for (size_t r = 0; r < grid.rows; ++r)
      for (size_t k = 0; k < 4; ++k)
        across[r * size.width + x] += taps.weight[k] * map[r * grid.cols + taps.at[k]];
  }
  std::vector<float> out(size.width * size.height);
  for (size_t y = 0; y < size.height; ++y) {
    const Taps taps = taps_of(y, size.height, grid.rows, upsampling);
    for (size_t k = 0; k < 4; ++k) {
      const float* row = across.data() + taps.at[k] * size.width;
      for (size_t x = 0; x < size.width; ++x) out[y * size.width + x] += taps.weight[k] * row[x];
    }
  }
  return out;
}

Image overlay(const Image& image, std::span<const float> map, GridSize grid,
              const OverlayLook& look) {
  const auto values = upsampled(map, grid, {0, 0, image.width, image.height}, look.upsampling);
  const Palette colours = palette(look.scale.colormap);
  Image out = image;
  for (size_t i = 0; i < values.size(); ++i) {
    std::uint8_t* pixel = &out.pixels[3 * i];
    const double grey = grey_of(pixel);
    const Colour& colour = colours[look.scale.index(values[i])];
    const double alpha = std::pow(look.alpha, 2.0 - look.scale.place(values[i]));
    for (size_t c = 0; c < 3; ++c) {
      // Half of the image's own colours are kept, so that objects stay recognisable.
      const double under = 0.5 * (grey + pixel[c]);
      pixel[c] = static_cast<std::uint8_t>(std::lround((1.0 - alpha) * under + alpha * colour[c]));
    }
  }
  return out;
}

Image heat_cells(std::span<const float> numbers, size_t cols, size_t cell,
                 const ColourScale& scale) {
  const size_t rows = numbers.size() / cols;
  const Palette colours = palette(scale.colormap);
  Image out = blank(cols * cell, rows * cell);
  for (size_t i = 0; i < rows * cols; ++i)
    fill(out, {i % cols * cell, i / cols * cell, cell, cell}, colours[scale.index(numbers[i])]);
  return out;
}

Box patch_box(const Image& image, GridSize grid, size_t row, size_t col) {
  const size_t left = col * image.width / grid.cols, top = row * image.height / grid.rows;
  return {left, top, (col + 1) * image.width / grid.cols - left,
          (row + 1) * image.height / grid.rows - top};
}

void contour(Image& image, std::span<const std::uint8_t> members, GridSize grid, Colour colour) {
  const size_t thickness = std::max<size_t>(2, image.width / 300);
  const auto member = [&](size_t row, size_t col) {
    return row < grid.rows && col < grid.cols && members[row * grid.cols + col] != 0;
  };
  for (size_t row = 0; row < grid.rows; ++row)
    for (size_t col = 0; col < grid.cols; ++col) {
      if (!member(row, col)) continue;
      const auto [x, y, width, height] = patch_box(image, grid, row, col);
      const size_t t = thickness;
      // Row and column -1 are beyond any grid.
      if (!member(row - 1, col)) fill(image, {x, y, width, t}, colour);
      if (!member(row + 1, col)) fill(image, {x, y + height - t, width, t}, colour);
      if (!member(row, col - 1)) fill(image, {x, y, t, height}, colour);
      if (!member(row, col + 1)) fill(image, {x + width - t, y, t, height}, colour);
    }
}

std::vector<double> round_numbers(double low, double high) {
  if (!(high > low) || !std::isfinite(high - low)) return {low};
  constexpr double kFewest = 3.0;
  const double unit = std::pow(10.0, std::floor(std::log10((high - low) / kFewest)));
  double step = unit;
  for (const double factor : {2.0, 5.0})
    if ((high - low) / (factor * unit) >= kFewest) step = factor * unit;
  std::vector<double> numbers;
  const double slack = 1e-9 * (high - low);
  for (double i = std::ceil((low - slack) / step); i * step <= high + slack; ++i)
    numbers.push_back(i * step + 0.0);  // no zero with a sign
  return numbers;
}

void colour_bar(Picture& picture, const Box& box, const ColourScale& scale,
                const BarLabels& labels) {
  constexpr size_t kColours = 18;
  constexpr double kHeight = 11.0;
  const Palette colours = palette(scale.colormap);
  const size_t tip = labels.clipped ? kColours / 2 : 0;  // shows that values exceed the scale
  for (size_t y = 0; y < tip; ++y)
    fill(picture, {box.x + tip - 1 - y, box.y + y, 2 * (y + 1), 1}, colours[255]);
  const size_t length = box.height - tip;
  for (size_t y = 0; y < length; ++y)
    fill(picture, {box.x, box.y + tip + y, kColours, 1}, colours[255 - y * 255 / (length - 1)]);
  const TextLook ticks{.height = kHeight, .colour = kFaintInk};
  const double left = static_cast<double>(box.x + kColours), top = static_cast<double>(box.y + tip);
  const double bottom = top + static_cast<double>(length - 1);
  const double low = scale.low * labels.factor, high = scale.high * labels.factor;
  for (const double value : round_numbers(low, high)) {
    const double y = bottom - scale.place(value / labels.factor) * (bottom - top);
    fill(picture, {box.x + kColours, static_cast<size_t>(y), 4, 1}, kFaintInk);
    const double baseline = std::clamp(y + 0.5 * kHeight, top + kHeight, bottom + 1.0);
    const double shown = labels.rooted ? value * value : value;
    draw_text(picture, formatted(labels.format.c_str(), shown) + labels.unit, left + 8.0, baseline,
              ticks);
  }
  draw_upwards(picture, labels.title, static_cast<double>(box.x + kBarWidth) - 8.0,
               0.5 * (top + bottom), ticks);
}

}  // namespace vit::tools
