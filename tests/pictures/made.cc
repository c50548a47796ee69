#include <array>
#include <cmath>

#include "tests/pictures/scenes.h"

namespace vit::pictures {
namespace {

const Rgb kSkyBlue{88, 142, 206}, kPaleSky{196, 216, 236}, kGrass{86, 118, 52},
    kFarGrass{128, 150, 86}, kRoad{96, 96, 98}, kFarRoad{136, 136, 136}, kBlack{24, 22, 24};

void school_bus(Scene& s) {
  s.sky(kSkyBlue, kPaleSky, 0.45);
  s.foliage({70, 104, 50}, 0.32, 0.46, 26);
  s.ground(kGrass, kFarGrass, 0.46, 1.0);
  s.ground(kRoad, kFarRoad, 0.66, 0.6);
  s.shadow({0.50, 0.84}, {0.46, 0.04});
  const Rgb yellow{246, 176, 16}, glass{48, 58, 70};
  s.polygon({{0.03, 0.26}, {0.74, 0.26}, {0.77, 0.50}, {0.95, 0.53}, {0.97, 0.76}, {0.03, 0.76}},
            yellow);
  for (int i = 0; i < 6; ++i)
    s.polygon({{0.06 + 0.108 * i, 0.33},
               {0.145 + 0.108 * i, 0.33},
               {0.145 + 0.108 * i, 0.47},
               {0.06 + 0.108 * i, 0.47}},
              glass);
  s.polygon({{0.71, 0.33}, {0.745, 0.33}, {0.765, 0.49}, {0.71, 0.49}}, glass);
  for (const double y : {0.53, 0.60, 0.68}) s.line({{0.03, y}, {0.77, y}}, 0.012, kBlack);
  s.line({{0.95, 0.74}, {0.99, 0.74}}, 0.035, kBlack);
  s.disc({0.94, 0.62}, 0.022, {255, 246, 214});
  s.disc({0.70, 0.29}, 0.016, {220, 60, 30});
  for (const double x : {0.22, 0.78}) s.wheel({x, 0.77}, 0.085);
}

void lighthouse(Scene& s) {
  s.sky({60, 120, 200}, {190, 214, 236}, 0.70);
  s.clouds(4, 0.10, 0.45);
  s.ground({30, 70, 110}, {70, 120, 160}, 0.68, 1.4);
  s.polygon({{0.20, 0.95},
             {0.30, 0.80},
             {0.46, 0.75},
             {0.70, 0.77},
             {0.85, 0.88},
             {0.92, 1.0},
             {0.16, 1.0}},
            {96, 88, 76});
  const Rgb white{240, 240, 238}, red{190, 36, 34};
  s.polygon({{0.44, 0.26}, {0.58, 0.26}, {0.63, 0.80}, {0.39, 0.80}}, white);
  s.polygon({{0.431, 0.36}, {0.589, 0.36}, {0.600, 0.48}, {0.420, 0.48}}, red);
  s.polygon({{0.409, 0.60}, {0.611, 0.60}, {0.622, 0.72}, {0.398, 0.72}}, red);
  s.polygon({{0.40, 0.23}, {0.62, 0.23}, {0.62, 0.27}, {0.40, 0.27}}, {60, 60, 64});
  s.polygon({{0.46, 0.13}, {0.56, 0.13}, {0.56, 0.23}, {0.46, 0.23}}, {240, 226, 150});
  s.polygon({{0.44, 0.13}, {0.51, 0.05}, {0.58, 0.13}}, red);
}

void sports_car(Scene& s) {
  s.sky(kSkyBlue, kPaleSky, 0.40);
  s.foliage({80, 110, 60}, 0.30, 0.44, 24);
  s.ground(kRoad, kFarRoad, 0.44, 0.6);
  s.shadow({0.50, 0.76}, {0.46, 0.05});
  const Rgb red{206, 22, 26}, glass{40, 48, 60};
  s.polygon({{0.30, 0.52}, {0.42, 0.39}, {0.62, 0.38}, {0.80, 0.50}}, red);
  s.polygon({{0.03, 0.64},
             {0.08, 0.56},
             {0.28, 0.51},
             {0.80, 0.49},
             {0.95, 0.53},
             {0.97, 0.68},
             {0.90, 0.73},
             {0.06, 0.73}},
            red);
  s.polygon({{0.35, 0.51}, {0.44, 0.42}, {0.53, 0.415}, {0.53, 0.50}}, glass);
  s.polygon({{0.56, 0.50}, {0.56, 0.415}, {0.61, 0.41}, {0.74, 0.495}}, glass);
  s.ellipse({0.10, 0.60}, {0.045, 0.020}, -18.0, {250, 246, 226});
  s.line({{0.30, 0.66}, {0.70, 0.66}}, 0.010, {120, 10, 14});
  for (const double x : {0.22, 0.78}) s.wheel({x, 0.72}, 0.095);
}

/// A point of an umbrella's rib, from the tip (0) to the rim (1) at `rim`.
cv::Point2d on_rib(double rim, double part) {
  const double angle = part * CV_PI / 2.0;
  return {0.50 + (rim - 0.50) * std::sin(angle), 0.14 + 0.36 * (1.0 - std::cos(angle))};
}

void umbrella(Scene& s) {
  s.sky({150, 166, 180}, {200, 208, 214}, 0.74);
  s.ground({110, 120, 100}, {140, 150, 126}, 0.72, 1.0);
  s.line({{0.50, 0.08}, {0.50, 0.86}}, 0.016, {70, 60, 54});
  s.line(arc({0.455, 0.86}, {0.045, 0.05}, 0, 180), 0.018, {96, 56, 30});
  const std::array<Rgb, 2> colours{Rgb{200, 26, 40}, Rgb{236, 200, 40}};
  for (int i = 0; i < 6; ++i) {
    const double left = 0.08 + 0.14 * i, right = left + 0.14;
    Points part;
    for (int k = 0; k <= 20; ++k) part.push_back(on_rib(left, k / 20.0));
    for (int k = 1; k < 10; ++k)  // the rim sags between two ribs
      part.emplace_back(left + 0.014 * k, 0.50 - 0.045 * std::sin(CV_PI * k / 10.0));
    for (int k = 20; k >= 0; --k) part.push_back(on_rib(right, k / 20.0));
    s.polygon(part, colours[i % 2]);
  }
}

void hourglass(Scene& s) {
  s.sky({60, 66, 76}, {96, 100, 108}, 0.84);
  s.ground({90, 60, 40}, {110, 76, 50}, 0.84, 0.5);
  const Rgb wood{140, 84, 44}, glass{196, 210, 216}, sand{226, 190, 120};
  s.polygon({{0.30, 0.18},
             {0.70, 0.18},
             {0.66, 0.36},
             {0.52, 0.50},
             {0.66, 0.64},
             {0.70, 0.82},
             {0.30, 0.82},
             {0.34, 0.64},
             {0.48, 0.50},
             {0.34, 0.36}},
            glass);
  s.polygon({{0.37, 0.32}, {0.63, 0.32}, {0.51, 0.48}, {0.49, 0.48}}, sand);
  s.line({{0.50, 0.48}, {0.50, 0.74}}, 0.008, sand);
  s.polygon({{0.32, 0.82}, {0.50, 0.66}, {0.68, 0.82}}, sand);
  for (const double x : {0.24, 0.76}) s.line({{x, 0.15}, {x, 0.85}}, 0.032, wood);
  for (const double y : {0.14, 0.86})
    s.polygon({{0.18, y - 0.035}, {0.82, y - 0.035}, {0.82, y + 0.035}, {0.18, y + 0.035}}, wood);
}

constexpr std::array<Picture, 5> kPictures{{{"school_bus", school_bus},
                                            {"lighthouse", lighthouse},
                                            {"sports_car", sports_car},
                                            {"umbrella", umbrella},
                                            {"hourglass", hourglass}}};

}  // namespace

std::span<const Picture> made_pictures() {
  return kPictures;
}

}  // namespace vit::pictures
