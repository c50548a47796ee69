#include "tools/draw/colormap.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

namespace vit::tools {
namespace {

/// A stop of a colour map, in Oklch: perceived lightness and chroma, hue in
/// degrees. Between stops the three are interpolated, so that equal steps of a number look equal.
struct Stop {
  double at;
  double lightness;
  double chroma;
  double hue;
};

// From black over violet and red to pale yellow.
constexpr std::array<Stop, 6> kInfernoStops{{{0.00, 0.06, 0.02, 285.0},
                                             {0.20, 0.28, 0.14, 300.0},
                                             {0.42, 0.46, 0.19, 350.0},
                                             {0.64, 0.63, 0.20, 395.0},
                                             {0.84, 0.80, 0.16, 433.0},
                                             {1.00, 0.98, 0.09, 465.0}}};
// From violet over blue and green to yellow.
constexpr std::array<Stop, 5> kViridisStops{{{0.00, 0.28, 0.15, 318.0},
                                             {0.25, 0.44, 0.11, 268.0},
                                             {0.50, 0.60, 0.10, 195.0},
                                             {0.75, 0.76, 0.17, 147.0},
                                             {1.00, 0.92, 0.19, 105.0}}};
// A rainbow: brightest in the middle, dark at both ends.
constexpr std::array<Stop, 7> kTurboStops{{{0.00, 0.28, 0.13, 300.0},
                                           {0.18, 0.58, 0.18, 262.0},
                                           {0.36, 0.80, 0.14, 195.0},
                                           {0.52, 0.90, 0.21, 132.0},
                                           {0.68, 0.84, 0.17, 92.0},
                                           {0.84, 0.66, 0.20, 45.0},
                                           {1.00, 0.40, 0.16, 28.0}}};
constexpr std::array<Stop, 2> kGrayStops{{{0.0, 0.0, 0.0, 0.0}, {1.0, 1.0, 0.0, 0.0}}};

std::span<const Stop> stops_of(Colormap map) {
  switch (map) {
    case Colormap::kInferno:
      return kInfernoStops;
    case Colormap::kViridis:
      return kViridisStops;
    case Colormap::kTurbo:
      return kTurboStops;
    case Colormap::kGray:
      break;
  }
  return kGrayStops;
}

/// Linear RGB, from 0 to 1 if a screen can show the colour.
using Light = std::array<double, 3>;

bool visible(const Light& light) {
  return std::ranges::all_of(light, [](double l) { return l >= -1e-6 && l <= 1.0 + 1e-6; });
}

std::uint8_t to_byte(double linear) {
  const double light = std::clamp(linear, 0.0, 1.0);
  const double encoded =
      light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1.0 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255.0 * encoded));
}

/// Björn Ottosson's Oklab to linear RGB: two matrices with a cube between them.
Light from_oklch(double lightness, double chroma, double hue) {
  const double angle = hue * std::numbers::pi / 180.0;
  const double a = chroma * std::cos(angle), b = chroma * std::sin(angle);
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

/// Reduces the chroma of a colour outside of the gamut: lightness and hue stay, so that the map has
/// no kinks.
Colour shown(double lightness, double chroma, double hue) {
  Light light = from_oklch(lightness, chroma, hue);
  double pale = 0.0, strong = chroma;
  for (int step = 0; step < 20 && !visible(light); ++step) {
    const double middle = 0.5 * (pale + strong);
    (visible(from_oklch(lightness, middle, hue)) ? pale : strong) = middle;
    if (step == 19) light = from_oklch(lightness, pale, hue);
  }
  return {to_byte(light[0]), to_byte(light[1]), to_byte(light[2])};
}

}  // namespace

Colour colour_of(Colormap map, double value) {
  const std::span<const Stop> stops = stops_of(map);
  const double v = std::isnan(value) ? 0.0 : std::clamp(value, 0.0, 1.0);
  size_t next = 1;
  while (next + 1 < stops.size() && stops[next].at < v) ++next;
  const Stop& from = stops[next - 1];
  const Stop& to = stops[next];
  const double part = (v - from.at) / (to.at - from.at);
  const auto between = [&](double x, double y) { return x + part * (y - x); };
  return shown(between(from.lightness, to.lightness), between(from.chroma, to.chroma),
               between(from.hue, to.hue));
}

Palette palette(Colormap map) {
  Palette colours;
  for (size_t i = 0; i < colours.size(); ++i)
    colours[i] = colour_of(map, static_cast<double>(i) / 255.0);
  return colours;
}

}  // namespace vit::tools
