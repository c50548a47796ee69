#include "vit/base/recipe.h"

#include <cmath>
#include <sstream>

#include "vit/base/error.h"

namespace vit {
namespace {

void write_size(std::ostream& out, size_t height, size_t width) {
  out << height;
  if (width != height) out << 'x' << width;
}

void write_colour(std::ostream& out, const std::array<float, 3>& values) {
  if (values[0] == values[1] && values[1] == values[2])
    out << values[0];
  else
    out << values[0] << ' ' << values[1] << ' ' << values[2];
}

struct Colour {
  std::string_view name;
  const std::array<float, 3>& values;
};

constexpr size_t kLargestEdge = size_t{1} << 20;

size_t scale_edge(size_t resized, size_t crop, double fraction, size_t edge) {
  if (fraction > 0.0) return static_cast<size_t>(std::floor(static_cast<double>(edge) / fraction));
  return resized * edge / crop;
}

}  // namespace

std::string describe(const Recipe& recipe) {
  std::ostringstream out;
  switch (recipe.resize) {
    case ResizeMode::kShortEdge:
      out << "short edge to ";
      break;
    case ResizeMode::kSquash:
      out << "squash to ";
      break;
    case ResizeMode::kBorder:
      out << "long edge to ";
      break;
    case ResizeMode::kNone:
      out << "no resize";
      break;
  }
  if (recipe.resize != ResizeMode::kNone) {
    write_size(out, recipe.resize_height, recipe.resize_width);
    out << " (" << to_string(recipe.interpolation)
        << (recipe.float_resize ? ", not rounded to bytes)" : ")");
  }
  out << ", centre crop " << recipe.crop_height << 'x' << recipe.crop_width << ", mean ";
  write_colour(out, recipe.mean);
  out << " std ";
  write_colour(out, recipe.std);
  return out.str();
}

void validate(const Recipe& recipe, std::string_view where) {
  for (const auto& [name, values] : {Colour{"mean", recipe.mean}, Colour{"std", recipe.std}})
    for (size_t i = 0; i < values.size(); ++i)
      if (!std::isfinite(values[i]))
        fail_at(where, "the recipe's ", name, "[", i, "] is ", values[i],
                ", expected a finite number");
  for (size_t i = 0; i < recipe.std.size(); ++i)
    if (!(recipe.std[i] > 0.0f))
      fail_at(where, "the recipe's std[", i, "] is ", recipe.std[i],
              ", expected a positive number");
  if (!std::isfinite(recipe.crop_fraction) || recipe.crop_fraction < 0.0)
    fail_at(where, "the recipe's crop fraction is ", recipe.crop_fraction,
            ", expected a finite number from 0");
  for (const size_t edge :
       {recipe.resize_height, recipe.resize_width, recipe.crop_height, recipe.crop_width})
    if (edge == 0 || edge > kLargestEdge)
      fail_at(where, "the recipe has an edge of ", edge, " pixels, expected 1 to ", kLargestEdge);
}

Recipe scaled_to(const Recipe& recipe, size_t height, size_t width) {
  if (height == 0 || width == 0)
    fail("image size ", height, "x", width, ": both must be at least 1");
  if (recipe.crop_height == 0 || recipe.crop_width == 0)
    fail("the recipe's crop is ", recipe.crop_height, "x", recipe.crop_width,
         ": both must be at least 1");
  Recipe scaled = recipe;
  scaled.resize_height =
      scale_edge(recipe.resize_height, recipe.crop_height, recipe.crop_fraction, height);
  scaled.resize_width =
      scale_edge(recipe.resize_width, recipe.crop_width, recipe.crop_fraction, width);
  scaled.crop_height = height;
  scaled.crop_width = width;
  return scaled;
}

}  // namespace vit
