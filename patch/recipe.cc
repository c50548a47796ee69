#include "patch/recipe.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>

#include "vit/base/error.h"

namespace vit::patch {
namespace {

// Python's round(): halves go to the even neighbour, which is what the default rounding mode does.
double round_half_even(double value) {
  return std::nearbyint(value);
}

struct Size {
  size_t width;
  size_t height;
};

/// The short edge exactly as asked, the long one truncated (torchvision's Resize with one number).
Size short_edge_to(const Size& image, size_t edge) {
  const size_t smaller = std::min(image.width, image.height);
  const size_t larger = std::max(image.width, image.height);
  const auto scaled =
      static_cast<size_t>(static_cast<double>(edge * larger) / static_cast<double>(smaller));
  return image.width <= image.height ? Size{edge, scaled} : Size{scaled, edge};
}

/// Both edges by one ratio, rounded (timm's ResizeKeepRatio). Where timm would round an edge to
/// nothing and fail, one pixel is kept.
Size keep_ratio(const Size& image, double ratio) {
  const auto scale = [ratio](size_t edge) {
    return std::max<size_t>(static_cast<size_t>(round_half_even(static_cast<double>(edge) / ratio)),
                            1);
  };
  return {scale(image.width), scale(image.height)};
}

Size resized_size(const Size& image, const Recipe& recipe) {
  const double down = static_cast<double>(image.height) / static_cast<double>(recipe.resize_height);
  const double across = static_cast<double>(image.width) / static_cast<double>(recipe.resize_width);
  switch (recipe.resize) {
    case ResizeMode::kNone:
      return image;
    case ResizeMode::kSquash:
      return {recipe.resize_width, recipe.resize_height};
    case ResizeMode::kBorder:
      return keep_ratio(image, std::max(down, across));
    case ResizeMode::kShortEdge:
      break;
  }
  if (recipe.resize_height == recipe.resize_width)
    return short_edge_to(image, recipe.resize_height);
  return keep_ratio(image, std::min(down, across));
}

/// One direction of the crop: inputs [first, first + count) go to outputs from `padding` on.
struct Span {
  size_t first;
  size_t count;
  size_t padding;
};

Span centre(size_t image, size_t crop, bool rounds_down) {
  if (image < crop) return {0, image, (crop - image) / 2};
  if (rounds_down) return {(image - crop) / 2, crop, 0};
  const double half = static_cast<double>(image - crop) / 2.0;
  return {static_cast<size_t>(round_half_even(half)), crop, 0};
}

/// What each byte of a channel becomes; in float, in the order of torch's ToTensor and Normalize.
using Table = std::array<float, 256>;

Table normalisation(float mean, float deviation) {
  Table table;
  for (size_t value = 0; value < table.size(); ++value)
    table[value] = (static_cast<float>(value) / 255.0f - mean) / deviation;
  return table;
}

std::uint8_t padding_value(const Recipe& recipe, size_t channel) {
  if (recipe.resize != ResizeMode::kBorder) return 0;
  const double value = round_half_even(255.0 * static_cast<double>(recipe.mean[channel]));
  return static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0));
}

void normalise_channel(const Image& image, const Placement& placement, const Table& table,
                       size_t channel, size_t stride, float* plane) {
  for (size_t y = 0; y < image.height; ++y) {
    const std::uint8_t* from = image.row(y) + channel;
    float* to = plane + (placement.top + y) * stride + placement.left;
    for (size_t x = 0; x < image.width; ++x) to[x] = table[from[3 * x]];
  }
}

/// As the table does, for pixels between two bytes: (value / 255 - mean) / std.
void normalise_in_float(const std::vector<float>& pixels, const Placement& placement,
                        const Recipe& recipe, size_t channel, float* plane) {
  const float mean = recipe.mean[channel], deviation = recipe.std[channel];
  const size_t width = placement.window.width;
  for (size_t y = 0; y < placement.window.height; ++y) {
    const float* from = &pixels[y * width * 3 + channel];
    float* to = plane + (placement.top + y) * recipe.crop_width + placement.left;
    for (size_t x = 0; x < width; ++x) to[x] = (from[3 * x] / 255.0f - mean) / deviation;
  }
}

void check(const Recipe& recipe) {
  const bool resizes = recipe.resize != ResizeMode::kNone;
  if (recipe.crop_height == 0 || recipe.crop_width == 0 ||
      (resizes && (recipe.resize_height == 0 || recipe.resize_width == 0)))
    fail("the recipe has a size of 0: ", describe(recipe));
  for (const float deviation : recipe.std)
    if (!(deviation > 0.0f))
      fail("the recipe's std is ", deviation, ", expected more than 0: ", describe(recipe));
}

}  // namespace

Placement place(size_t width, size_t height, const Recipe& recipe) {
  check(recipe);
  if (width == 0 || height == 0)
    fail("the image is ", width, "x", height, ": both must be at least 1");
  const Size resized = resized_size({width, height}, recipe);
  const Span across = centre(resized.width, recipe.crop_width, recipe.crop_rounds_down);
  const Span down = centre(resized.height, recipe.crop_height, recipe.crop_rounds_down);
  return {
      .window = {resized.width, resized.height, across.first, down.first, across.count, down.count},
      .left = across.padding,
      .top = down.padding};
}

void apply_recipe(const Image& image, const Recipe& recipe, RecipeScratch& scratch,
                  MatrixView planes, Isa isa) {
  assert(planes.rows == 3 && planes.cols == recipe.crop_height * recipe.crop_width);
  const Placement placement = place(image.width, image.height, recipe);
  const bool in_float = recipe.float_resize && recipe.interpolation != Interpolation::kNearest;
  if (in_float)
    resize_window_in_float(image, placement.window, recipe.interpolation, scratch.resample,
                           scratch.resized_in_float);
  else
    resize_window(image, placement.window, recipe.interpolation, {scratch.resample, isa},
                  scratch.resized);
  const bool padded =
      placement.window.width < recipe.crop_width || placement.window.height < recipe.crop_height;
  for (size_t channel = 0; channel < 3; ++channel) {
    const Table table = normalisation(recipe.mean[channel], recipe.std[channel]);
    float* plane = planes.row(channel);
    if (padded) std::fill_n(plane, planes.cols, table[padding_value(recipe, channel)]);
    if (in_float)
      normalise_in_float(scratch.resized_in_float, placement, recipe, channel, plane);
    else
      normalise_channel(scratch.resized, placement, table, channel, recipe.crop_width, plane);
  }
}

Pixels apply_recipe(const Image& image, const Recipe& recipe) {
  check(recipe);
  Pixels pixels{recipe.crop_height, recipe.crop_width,
                Matrix(3, recipe.crop_height * recipe.crop_width)};
  RecipeScratch scratch;
  apply_recipe(image, recipe, scratch, pixels.planes, active_isa());
  return pixels;
}

}  // namespace vit::patch
