#include "patch/resample.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numbers>

#include "patch/resample_kernels.h"
#include "vit/base/error.h"
#include "vit/base/round.h"

namespace vit::patch {
namespace {

double box(double x) {
  return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
}

double triangle(double x) {
  return std::max(0.0, 1.0 - std::abs(x));
}

// Keys' cubic with a = -0.5 (OpenCV and torch without antialiasing take -0.75).
double cubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
  if (x < 2.0) return (((x - 5.0) * x + 8.0) * x - 4.0) * a;
  return 0.0;
}

double sinc(double x) {
  if (x == 0.0) return 1.0;
  x *= std::numbers::pi;
  return std::sin(x) / x;
}

double lanczos(double x) {
  return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0;
}

struct Kernel {
  double (*weight)(double);
  double support;  // half its width, in input pixels when enlarging
};

Kernel kernel_of(Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::kBox:
      return {box, 0.5};
    case Interpolation::kBilinear:
      return {triangle, 1.0};
    case Interpolation::kBicubic:
      return {cubic, 2.0};
    case Interpolation::kLanczos:
      return {lanczos, 3.0};
    case Interpolation::kNearest:
      break;
  }
  assert(false);
  return {box, 0.5};
}

std::int32_t to_fixed(double weight) {
  constexpr double kOne = 1 << kWeightBits;
  return static_cast<std::int32_t>(weight < 0 ? weight * kOne - 0.5 : weight * kOne + 0.5);
}

/// One direction of a resize: outputs [first, first + count) of `resized` from `length` inputs.
struct Axis {
  size_t length;
  size_t resized;
  size_t first;
  size_t count;
};

// Shrinking stretches the kernel over the inputs of an output, so it always antialiases; at the
// edge the weights that fall outside are dropped and the others share their part.
void make_filter(const Axis& axis, const Kernel& kernel, ResampleFilter& filter) {
  const double scale = static_cast<double>(axis.length) / static_cast<double>(axis.resized);
  const double stretch = std::max(scale, 1.0);
  const double support = kernel.support * stretch;
  const double squeeze = 1.0 / stretch;
  filter.stride = static_cast<size_t>(std::ceil(support)) * 2 + 1;
  filter.firsts.resize(axis.count);
  filter.counts.resize(axis.count);
  filter.weights.resize(axis.count * filter.stride);
  filter.exact.resize(axis.count * filter.stride);
  for (size_t i = 0; i < axis.count; ++i) {
    const double centre = (static_cast<double>(axis.first + i) + 0.5) * scale;
    const auto begin = static_cast<size_t>(std::max(std::floor(centre - support + 0.5), 0.0));
    const auto end = std::min(static_cast<size_t>(std::floor(centre + support + 0.5)), axis.length);
    double* exact = &filter.exact[i * filter.stride];
    double sum = 0.0;
    for (size_t x = begin; x < end; ++x) {
      exact[x - begin] = kernel.weight((static_cast<double>(x) - centre + 0.5) * squeeze);
      sum += exact[x - begin];
    }
    if (sum == 0.0) sum = 1.0;
    filter.firsts[i] = begin;
    filter.counts[i] = end - begin;
    std::int32_t* fixed = &filter.weights[i * filter.stride];
    for (size_t t = 0; t < end - begin; ++t) {
      exact[t] /= sum;
      fixed[t] = to_fixed(exact[t]);
    }
  }
}

// Turns blocks of rows on their side, so that a weight meets whole vectors of pixels, and back.
void filter_across(const Image& image, size_t first_row, size_t rows,
                   const ResampleKernels& kernels, ResampleScratch& scratch) {
  const ResampleFilter& filter = scratch.across;
  const size_t outputs = filter.firsts.size();
  const size_t first = filter.firsts.front();  // firsts and ends never decrease
  const size_t bytes = (filter.firsts.back() + filter.counts.back() - first) * 3;
  const size_t stride = round_up(outputs * 3, kColumnBlock);
  scratch.columns.resize(round_up(bytes, 16) * kLaneRows);
  scratch.turned.resize(round_up(outputs * 3, 16) * kLaneRows);
  scratch.intermediate.resize(round_up(rows, kLaneRows) * stride);

  std::array<const std::uint8_t*, kLaneRows> from;
  std::array<std::uint8_t*, kLaneRows> to;
  for (size_t y = 0; y < rows; y += kLaneRows) {
    for (size_t r = 0; r < kLaneRows; ++r) {
      from[r] = image.row(first_row + std::min(y + r, rows - 1)) + first * 3;
      to[r] = &scratch.intermediate[(y + r) * stride];
    }
    kernels.turn_rows(from.data(), bytes, scratch.columns.data());
    for (size_t x = 0; x < outputs; ++x)
      kernels.filter_pixel(&scratch.columns[(filter.firsts[x] - first) * 3 * kLaneRows],
                           &filter.weights[x * filter.stride], filter.counts[x],
                           &scratch.turned[x * 3 * kLaneRows]);
    kernels.turn_columns(scratch.turned.data(), outputs * 3, to.data());
  }
}

void copy_columns(const Image& image, const Axis& across, size_t first_row, size_t rows,
                  ResampleScratch& scratch) {
  const size_t stride = round_up(across.count * 3, kColumnBlock);
  scratch.intermediate.resize(rows * stride);
  for (size_t y = 0; y < rows; ++y)
    std::copy_n(image.row(first_row + y) + across.first * 3, across.count * 3,
                &scratch.intermediate[y * stride]);
}

void filter_down(size_t first_row, const ResampleKernels& kernels, ResampleScratch& scratch,
                 Image& resized) {
  const ResampleFilter& filter = scratch.down;
  const size_t stride = round_up(resized.width * 3, kColumnBlock);
  scratch.turned.resize(std::max(scratch.turned.size(), stride));
  for (size_t y = 0; y < resized.height; ++y) {
    kernels.filter_rows(&scratch.intermediate[(filter.firsts[y] - first_row) * stride],
                        &filter.weights[y * filter.stride], filter.counts[y], stride,
                        scratch.turned.data());
    std::copy_n(scratch.turned.data(), resized.width * 3, resized.row(y));
  }
}

void convolve(const Image& image, const Axis& across, const Axis& down, const Kernel& kernel,
              const ResampleResources& resources, Image& resized) {
  const ResampleKernels& kernels = resample_kernels(resources.isa);
  ResampleScratch& scratch = resources.scratch;
  const bool filters_down = down.length != down.resized;
  size_t first_row = down.first, rows = down.count;
  if (filters_down) {
    make_filter(down, kernel, scratch.down);
    first_row = scratch.down.firsts.front();
    rows = scratch.down.firsts.back() + scratch.down.counts.back() - first_row;
  }
  if (across.length != across.resized) {
    make_filter(across, kernel, scratch.across);
    filter_across(image, first_row, rows, kernels, scratch);
  } else {
    copy_columns(image, across, first_row, rows, scratch);
  }
  if (filters_down) {
    filter_down(first_row, kernels, scratch, resized);
  } else {
    const size_t stride = round_up(resized.width * 3, kColumnBlock);
    for (size_t y = 0; y < rows; ++y)
      std::copy_n(&scratch.intermediate[y * stride], resized.width * 3, resized.row(y));
  }
}

/// Rows [first_row, first_row + rows) through the horizontal filter to scratch.fractions.
void filter_across_in_float(const Image& image, size_t first_row, size_t rows,
                            ResampleScratch& scratch) {
  const ResampleFilter& filter = scratch.across;
  const size_t outputs = filter.firsts.size();
  scratch.fractions.resize(rows * outputs * 3);
  float* to = scratch.fractions.data();
  for (size_t y = 0; y < rows; ++y)
    for (size_t x = 0; x < outputs; ++x)
      for (size_t channel = 0; channel < 3; ++channel) {
        const std::uint8_t* from = image.row(first_row + y) + filter.firsts[x] * 3 + channel;
        const double* weights = &filter.exact[x * filter.stride];
        double sum = 0.0;
        for (size_t t = 0; t < filter.counts[x]; ++t) sum += weights[t] * from[3 * t];
        *to++ = static_cast<float>(sum);
      }
}

// Pillow walks the outputs by adding the scale up; the rounding of those sums is part of its
// answer.
void nearest_inputs(const Axis& axis, std::vector<size_t>& inputs) {
  const double scale = static_cast<double>(axis.length) / static_cast<double>(axis.resized);
  inputs.resize(axis.count);
  double position = scale * 0.5;
  for (size_t i = 0; i < axis.first + axis.count; ++i, position += scale)
    if (i >= axis.first)
      inputs[i - axis.first] = std::min(static_cast<size_t>(position), axis.length - 1);
}

void pick_nearest(const Image& image, const Axis& across, const Axis& down,
                  ResampleScratch& scratch, Image& resized) {
  nearest_inputs(across, scratch.across.firsts);
  nearest_inputs(down, scratch.down.firsts);
  for (size_t y = 0; y < resized.height; ++y) {
    const std::uint8_t* from = image.row(scratch.down.firsts[y]);
    std::uint8_t* to = resized.row(y);
    for (size_t x = 0; x < resized.width; ++x)
      std::copy_n(from + scratch.across.firsts[x] * 3, 3, to + x * 3);
  }
}

void check_window(const Image& image, const ResizeWindow& window) {
  if (image.width == 0 || image.height == 0) fail("cannot resize an empty image");
  if (window.width == 0 || window.height == 0)
    fail("cannot resize to ", window.width, "x", window.height, ": both must be at least 1");
  assert(window.x + window.width <= window.resized_width);
  assert(window.y + window.height <= window.resized_height);
}

}  // namespace

void resize_window(const Image& image, const ResizeWindow& window, Interpolation interpolation,
                   const ResampleResources& resources, Image& resized) {
  check_window(image, window);
  resized.width = window.width;
  resized.height = window.height;
  resized.pixels.resize(window.width * window.height * 3);
  const Axis across{image.width, window.resized_width, window.x, window.width};
  const Axis down{image.height, window.resized_height, window.y, window.height};
  if (interpolation == Interpolation::kNearest)
    pick_nearest(image, across, down, resources.scratch, resized);
  else
    convolve(image, across, down, kernel_of(interpolation), resources, resized);
}

void resize_window_in_float(const Image& image, const ResizeWindow& window,
                            Interpolation interpolation, ResampleScratch& scratch,
                            std::vector<float>& resized) {
  check_window(image, window);
  assert(interpolation != Interpolation::kNearest);
  const Kernel kernel = kernel_of(interpolation);
  make_filter({image.width, window.resized_width, window.x, window.width}, kernel, scratch.across);
  make_filter({image.height, window.resized_height, window.y, window.height}, kernel, scratch.down);
  const ResampleFilter& filter = scratch.down;
  const size_t first_row = filter.firsts.front(), stride = window.width * 3;
  filter_across_in_float(image, first_row, filter.firsts.back() + filter.counts.back() - first_row,
                         scratch);
  resized.assign(window.height * stride, 0.0f);
  for (size_t y = 0; y < window.height; ++y)
    for (size_t t = 0; t < filter.counts[y]; ++t) {
      const auto weight = static_cast<float>(filter.exact[y * filter.stride + t]);
      const float* from = &scratch.fractions[(filter.firsts[y] + t - first_row) * stride];
      float* to = &resized[y * stride];
      for (size_t i = 0; i < stride; ++i) to[i] += weight * from[i];
    }
}

Image resize_window(const Image& image, const ResizeWindow& window, Interpolation interpolation,
                    Isa isa) {
  ResampleScratch scratch;
  Image resized;
  resize_window(image, window, interpolation, {scratch, isa}, resized);
  return resized;
}

Image resize(const Image& image, size_t width, size_t height, Interpolation interpolation,
             Isa isa) {
  return resize_window(image, {width, height, 0, 0, width, height}, interpolation, isa);
}

}  // namespace vit::patch
