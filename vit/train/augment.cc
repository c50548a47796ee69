#include "vit/train/augment.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "patch/recipe.h"
#include "patch/resample.h"
#include "vit/train/image_ops.h"

namespace vit::train {
namespace {

/// A recipe's geometry alone, as bytes.
Image placed(const Image& image, const Recipe& recipe) {
  const patch::Placement at = patch::place(image.width, image.height, recipe);
  Image window = patch::resize_window(image, at.window, recipe.interpolation);
  if (window.width == recipe.crop_width && window.height == recipe.crop_height) return window;
  Image out{recipe.crop_width, recipe.crop_height,
            std::vector<std::uint8_t>(recipe.crop_width * recipe.crop_height * 3)};
  for (size_t y = 0; y < window.height; ++y)
    std::copy_n(window.row(y), window.width * 3, out.row(at.top + y) + at.left * 3);
  return out;
}

/// -1 and n mirror to 1 and n - 2.
size_t mirrored(long at, size_t n) {
  const long last = static_cast<long>(n) - 1;
  if (last == 0) return 0;
  at = std::abs(at) % (2 * last);
  return static_cast<size_t>(at <= last ? at : 2 * last - at);
}

Image shifted(const Image& image, long dx, long dy) {
  Image out{image.width, image.height, std::vector<std::uint8_t>(image.pixels.size())};
  for (size_t y = 0; y < image.height; ++y) {
    const std::uint8_t* from = image.row(mirrored(static_cast<long>(y) + dy, image.height));
    for (size_t x = 0; x < image.width; ++x)
      std::copy_n(from + 3 * mirrored(static_cast<long>(x) + dx, image.width), 3,
                  out.row(y) + x * 3);
  }
  return out;
}

Image part(const Image& image, size_t x, size_t y, size_t width, size_t height) {
  Image out{width, height, std::vector<std::uint8_t>(width * height * 3)};
  for (size_t r = 0; r < height; ++r) std::copy_n(image.row(y + r) + x * 3, width * 3, out.row(r));
  return out;
}

/// As torchvision's RandomResizedCrop: an area and an aspect ratio that fit, else the centre.
Image resized_crop(const Image& image, const Recipe& recipe, double least_area, Random& random) {
  constexpr int kTries = 10;
  const double log_ratio = std::log(4.0 / 3.0);
  const auto width = static_cast<double>(image.width), height = static_cast<double>(image.height);
  for (int i = 0; i < kTries; ++i) {
    const double area = width * height * random.uniform(least_area, 1.0);
    const double ratio = std::exp(random.uniform(-log_ratio, log_ratio));
    const double w = std::round(std::sqrt(area * ratio)), h = std::round(std::sqrt(area / ratio));
    if (w < 1.0 || h < 1.0 || w > width || h > height) continue;
    const size_t cw = static_cast<size_t>(w), ch = static_cast<size_t>(h);
    const size_t x = random.below(image.width - cw + 1), y = random.below(image.height - ch + 1);
    return patch::resize(part(image, x, y, cw, ch), recipe.crop_width, recipe.crop_height,
                         recipe.interpolation);
  }
  return placed(image, recipe);
}

Image cropped(const Image& image, const Recipe& recipe, const Augmentation& how, Random& random) {
  if (how.crop == CropKind::kResized) return resized_crop(image, recipe, how.least_area, random);
  Image whole = placed(image, recipe);
  if (how.crop == CropKind::kNone) return whole;
  const auto offset = [&] {
    return static_cast<long>(random.below(2 * how.pad + 1)) - static_cast<long>(how.pad);
  };
  const long dx = offset(), dy = offset();
  return shifted(whole, dx, dy);
}

/// `strength` 0 to 1, `sign` either way.
using Operation = void (*)(Image& image, double strength, double sign);

double factor_of(double strength, double sign) {
  return 1.0 + sign * 0.9 * strength;
}

/// RandAugment's fourteen. Their order is part of what a seed gives.
constexpr Operation kOperations[]{
    [](Image&, double, double) {},  // the identity
    [](Image& i, double strength, double sign) { i = rotate(i, sign * 30.0 * strength); },
    [](Image& i, double strength, double sign) { i = shear(i, sign * 0.3 * strength, 0.0); },
    [](Image& i, double strength, double sign) { i = shear(i, 0.0, sign * 0.3 * strength); },
    [](Image& i, double strength, double sign) { i = translate(i, sign * 0.3 * strength, 0.0); },
    [](Image& i, double strength, double sign) { i = translate(i, 0.0, sign * 0.3 * strength); },
    [](Image& i, double strength, double sign) { adjust_brightness(i, factor_of(strength, sign)); },
    [](Image& i, double strength, double sign) { adjust_contrast(i, factor_of(strength, sign)); },
    [](Image& i, double strength, double sign) { adjust_saturation(i, factor_of(strength, sign)); },
    [](Image& i, double strength, double sign) { adjust_sharpness(i, factor_of(strength, sign)); },
    [](Image& i, double strength, double) {
      posterize(i, 8 - static_cast<size_t>(std::lround(4.0 * strength)));
    },
    [](Image& i, double strength, double) {
      solarize(i, static_cast<size_t>(std::lround(256.0 * (1.0 - strength))));
    },
    [](Image& i, double, double) { stretch_contrast(i); },
    [](Image& i, double, double) { equalize(i); },
};

void recolour(const Augmentation& how, Random& random, Image& image) {
  for (size_t i = 0; i < how.operations; ++i) {
    const Operation operation = kOperations[random.below(std::size(kOperations))];
    const double strength = how.magnitude * random.uniform();
    operation(image, strength, random.chance(0.5) ? 1.0 : -1.0);
  }
  if (how.jitter <= 0.0) return;
  const auto factor = [&] { return random.uniform(1.0 - how.jitter, 1.0 + how.jitter); };
  adjust_brightness(image, factor());
  adjust_contrast(image, factor());
  adjust_saturation(image, factor());
}

/// A rectangle of 2 to 33 % of the image becomes noise (Zhong et al. 2017).
void erase(size_t height, size_t width, Random& random, MatrixView planes) {
  const double area = static_cast<double>(height * width) * random.uniform(0.02, 0.33);
  const double ratio = std::exp(random.uniform(std::log(0.3), std::log(3.3)));
  const auto rows = static_cast<size_t>(std::lround(std::sqrt(area * ratio)));
  const auto cols = static_cast<size_t>(std::lround(std::sqrt(area / ratio)));
  if (rows == 0 || cols == 0 || rows > height || cols > width) return;
  const size_t top = random.below(height - rows + 1), left = random.below(width - cols + 1);
  for (size_t c = 0; c < planes.rows; ++c)
    for (size_t y = top; y < top + rows; ++y)
      for (size_t x = left; x < left + cols; ++x)
        planes(c, y * width + x) = static_cast<float>(random.normal());
}

}  // namespace

Image draw_crop(const Image& image, const Recipe& recipe, const Augmentation& how, Random& random) {
  Image crop = cropped(image, recipe, how, random);
  if (how.flip && (how.mirrored ? *how.mirrored : random.chance(0.5))) flip(crop);
  return crop;
}

void augment(const Image& image, const Recipe& recipe, const Augmentation& how, Random& random,
             MatrixView planes) {
  finish_crop(draw_crop(image, recipe, how, random), recipe, how, random, planes);
}

void finish_crop(Image changed, const Recipe& recipe, const Augmentation& how, Random& random,
                 MatrixView planes) {
  recolour(how, random, changed);

  const size_t count = changed.width * changed.height;
  for (size_t c = 0; c < 3; ++c) {
    const float scale = 1.0f / (255.0f * recipe.std[c]), shift = recipe.mean[c] / recipe.std[c];
    float* plane = planes.row(c);
    for (size_t i = 0; i < count; ++i)
      plane[i] = static_cast<float>(changed.pixels[i * 3 + c]) * scale - shift;
  }
  if (how.erase > 0.0 && random.chance(how.erase))
    erase(changed.height, changed.width, random, planes);
}

}  // namespace vit::train
