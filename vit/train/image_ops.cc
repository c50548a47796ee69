#include "vit/train/image_ops.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace vit::train {
namespace {

constexpr double kOutside = 128.0;  // grey

std::uint8_t to_byte(double value) {
  return static_cast<std::uint8_t>(std::clamp(value + 0.5, 0.0, 255.0));
}

double luminance(const std::uint8_t* rgb) {  // ITU-R 601
  return 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
}

double pixel_at(const Image& image, long x, long y, size_t channel) {
  if (x < 0 || y < 0 || x >= static_cast<long>(image.width) || y >= static_cast<long>(image.height))
    return kOutside;
  return image.row(static_cast<size_t>(y))[static_cast<size_t>(x) * 3 + channel];
}

/// Replaces every byte by table[channel][byte].
void look_up(Image& image, const std::array<std::array<std::uint8_t, 256>, 3>& table) {
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = table[i % 3][image.pixels[i]];
}

std::array<std::array<size_t, 256>, 3> histograms(const Image& image) {
  std::array<std::array<size_t, 256>, 3> counts{};
  for (size_t i = 0; i < image.pixels.size(); ++i) ++counts[i % 3][image.pixels[i]];
  return counts;
}

}  // namespace

Image warp(const Image& image, const std::array<double, 6>& m) {
  Image out{image.width, image.height, std::vector<std::uint8_t>(image.pixels.size())};
  const double cx = (static_cast<double>(image.width) - 1.0) / 2.0;
  const double cy = (static_cast<double>(image.height) - 1.0) / 2.0;
  for (size_t y = 0; y < image.height; ++y)
    for (size_t x = 0; x < image.width; ++x) {
      const double dx = static_cast<double>(x) - cx, dy = static_cast<double>(y) - cy;
      const double sx = m[0] * dx + m[1] * dy + m[2] + cx, sy = m[3] * dx + m[4] * dy + m[5] + cy;
      const double fx = std::floor(sx), fy = std::floor(sy);
      const double wx = sx - fx, wy = sy - fy;
      const long ix = static_cast<long>(fx), iy = static_cast<long>(fy);
      for (size_t c = 0; c < 3; ++c) {
        const double top =
            (1 - wx) * pixel_at(image, ix, iy, c) + wx * pixel_at(image, ix + 1, iy, c);
        const double bottom =
            (1 - wx) * pixel_at(image, ix, iy + 1, c) + wx * pixel_at(image, ix + 1, iy + 1, c);
        out.row(y)[x * 3 + c] = to_byte((1 - wy) * top + wy * bottom);
      }
    }
  return out;
}

Image rotate(const Image& image, double degrees) {
  const double angle = degrees * std::numbers::pi / 180.0;
  const double c = std::cos(angle), s = std::sin(angle);
  return warp(image, {c, s, 0.0, -s, c, 0.0});
}

Image shear(const Image& image, double across, double down) {
  return warp(image, {1.0, across, 0.0, down, 1.0, 0.0});
}

Image translate(const Image& image, double across, double down) {
  return warp(image, {1.0, 0.0, std::round(across * static_cast<double>(image.width)), 0.0, 1.0,
                      std::round(down * static_cast<double>(image.height))});
}

void flip(Image& image) {
  for (size_t y = 0; y < image.height; ++y) {
    std::uint8_t* row = image.row(y);
    for (size_t left = 0, right = image.width - 1; left < right; ++left, --right)
      std::swap_ranges(row + left * 3, row + left * 3 + 3, row + right * 3);
  }
}

void adjust_brightness(Image& image, double factor) {
  for (std::uint8_t& value : image.pixels) value = to_byte(value * factor);
}

void adjust_contrast(Image& image, double factor) {
  double mean = 0.0;
  for (size_t i = 0; i < image.pixels.size(); i += 3) mean += luminance(&image.pixels[i]);
  mean /= static_cast<double>(image.pixels.size()) / 3.0;
  for (std::uint8_t& value : image.pixels) value = to_byte(mean + (value - mean) * factor);
}

void adjust_saturation(Image& image, double factor) {
  for (size_t i = 0; i < image.pixels.size(); i += 3) {
    const double grey = luminance(&image.pixels[i]);
    for (size_t c = 0; c < 3; ++c)
      image.pixels[i + c] = to_byte(grey + (image.pixels[i + c] - grey) * factor);
  }
}

void adjust_sharpness(Image& image, double factor) {
  const Image before = image;
  for (size_t y = 1; y + 1 < image.height; ++y)
    for (size_t i = 3; i + 3 < image.width * 3; ++i) {
      double sum = 4.0 * before.row(y)[i];  // Pillow's SMOOTH: 5 in the middle, 1 around, over 13
      for (size_t dy = 0; dy < 3; ++dy)
        for (size_t dx = 0; dx < 3; ++dx) sum += before.row(y + dy - 1)[i + 3 * dx - 3];
      const double smooth = sum / 13.0;
      image.row(y)[i] = to_byte(smooth + (before.row(y)[i] - smooth) * factor);
    }
}

void posterize(Image& image, size_t bits) {
  const auto mask = static_cast<std::uint8_t>(0xff << (8 - bits));
  for (std::uint8_t& value : image.pixels) value &= mask;
}

void solarize(Image& image, size_t threshold) {
  for (std::uint8_t& value : image.pixels)
    if (value >= threshold) value = static_cast<std::uint8_t>(255 - value);
}

void stretch_contrast(Image& image) {
  std::array<std::array<std::uint8_t, 256>, 3> table{};
  const auto counts = histograms(image);
  for (size_t c = 0; c < 3; ++c) {
    size_t low = 0, high = 255;
    while (low < 255 && counts[c][low] == 0) ++low;
    while (high > 0 && counts[c][high] == 0) --high;
    const double scale = high > low ? 255.0 / static_cast<double>(high - low) : 1.0;
    const double base = high > low ? static_cast<double>(low) : 0.0;
    for (size_t v = 0; v < 256; ++v) table[c][v] = to_byte((static_cast<double>(v) - base) * scale);
  }
  look_up(image, table);
}

void equalize(Image& image) {
  std::array<std::array<std::uint8_t, 256>, 3> table{};
  const auto counts = histograms(image);
  const size_t pixels = image.pixels.size() / 3;
  const auto total = static_cast<double>(pixels);
  for (size_t c = 0; c < 3; ++c) {
    double below = 0.0;
    for (size_t v = 0; v < 256; ++v) {
      const auto here = static_cast<double>(counts[c][v]);
      table[c][v] = to_byte(255.0 * (below + 0.5 * here) / total);
      below += here;
    }
  }
  look_up(image, table);
}

}  // namespace vit::train
