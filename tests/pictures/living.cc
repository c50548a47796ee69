#include <array>
#include <cmath>

#include "tests/pictures/scenes.h"

namespace vit::pictures {
namespace {

const Rgb kBlack{24, 22, 24};

/// A board of wood, as under food.
void table(Scene& s, Rgb near, Rgb far) {
  s.ground(near, far, 0.0, 0.8);
  for (const double y : {0.17, 0.42, 0.68, 0.9})
    s.line({{0.0, y}, {1.0, y + 0.015}}, 0.006, near * 0.6);
}

void goldfish(Scene& s) {
  s.sky({60, 120, 130}, {20, 60, 70}, 1.0);
  s.foliage({50, 110, 60}, 0.75, 1.0, 26);
  const Rgb orange{245, 120, 24}, fin{250, 160, 70};
  s.polygon({{0.66, 0.50}, {0.94, 0.26}, {0.90, 0.48}, {0.97, 0.74}, {0.70, 0.58}}, fin);
  s.polygon({{0.34, 0.36}, {0.44, 0.20}, {0.62, 0.24}, {0.64, 0.40}}, fin);
  s.polygon({{0.42, 0.66}, {0.46, 0.82}, {0.56, 0.68}}, fin);
  s.ellipse({0.44, 0.52}, {0.30, 0.18}, 0.0, orange);
  s.ellipse({0.40, 0.60}, {0.22, 0.08}, 0.0, {255, 190, 110});
  for (const double x : {0.40, 0.48, 0.56})
    s.line(arc({x, 0.52}, {0.05, 0.12}, -60, 60), 0.006, {214, 92, 12});
  s.polygon({{0.34, 0.56}, {0.46, 0.60}, {0.40, 0.70}}, fin);
  s.line(arc({0.24, 0.52}, {0.05, 0.13}, -70, 70), 0.010, {200, 84, 10});
  s.disc({0.22, 0.48}, 0.040, {250, 240, 220});
  s.disc({0.22, 0.48}, 0.024, kBlack);
}

void ladybug(Scene& s) {
  s.sky({96, 156, 60}, {60, 116, 40}, 1.0);
  s.foliage({90, 150, 56}, 0.0, 1.0, 40);
  s.line({{0.0, 0.80}, {1.0, 0.62}}, 0.012, {150, 196, 96});
  s.shadow({0.50, 0.76}, {0.34, 0.06});
  for (const double x : {0.30, 0.48, 0.64}) s.line({{x, 0.66}, {x - 0.06, 0.82}}, 0.020, kBlack);
  s.disc({0.80, 0.56}, 0.105, kBlack);
  s.ellipse({0.80, 0.51}, {0.03, 0.025}, 0.0, {236, 232, 220});
  s.line({{0.86, 0.48}, {0.95, 0.38}}, 0.012, kBlack);
  s.line({{0.82, 0.46}, {0.88, 0.33}}, 0.012, kBlack);
  s.ellipse({0.47, 0.53}, {0.33, 0.25}, 0.0, {206, 26, 20});
  s.line({{0.14, 0.50}, {0.80, 0.50}}, 0.012, kBlack);
  for (const auto& spot :
       Points{{0.32, 0.40}, {0.56, 0.38}, {0.28, 0.62}, {0.50, 0.64}, {0.68, 0.60}, {0.70, 0.43}})
    s.disc(spot, 0.055, kBlack);
  s.ellipse({0.40, 0.36}, {0.10, 0.025}, -12.0, {240, 130, 120});
}

void jellyfish(Scene& s) {
  s.sky({16, 60, 150}, {4, 16, 70}, 1.0);
  const Rgb bell{196, 170, 226}, rim{236, 216, 246};
  for (int i = 0; i < 9; ++i) {
    const double x = 0.30 + 0.05 * i;
    Points strand;
    for (int k = 0; k <= 20; ++k)
      strand.emplace_back(x + 0.025 * std::sin(0.7 * k + i), 0.44 + (0.018 + 0.003 * (i % 3)) * k);
    s.line(strand, i % 2 == 0 ? 0.008 : 0.018, i % 2 == 0 ? rim : bell * 0.8);
  }
  s.polygon(arc({0.50, 0.44}, {0.30, 0.30}, 180, 360), bell);
  s.polygon(arc({0.50, 0.42}, {0.20, 0.20}, 180, 360), {220, 196, 240});
  for (int i = 0; i < 7; ++i) s.disc({0.235 + 0.088 * i, 0.44}, 0.035, rim);
}

void lemon(Scene& s) {
  table(s, {120, 84, 56}, {156, 116, 80});
  s.shadow({0.40, 0.74}, {0.30, 0.06});
  s.ellipse({0.16, 0.60}, {0.06, 0.045}, -16.0, {220, 190, 30});
  s.ellipse({0.66, 0.46}, {0.06, 0.045}, -16.0, {220, 190, 30});
  s.ellipse({0.40, 0.53}, {0.25, 0.185}, -16.0, {248, 220, 40});
  s.ellipse({0.34, 0.44}, {0.10, 0.04}, -20.0, {255, 244, 150});
  s.shadow({0.72, 0.88}, {0.20, 0.04});
  s.disc({0.72, 0.72}, 0.175, {244, 214, 60});
  s.disc({0.72, 0.72}, 0.155, {252, 246, 206});
  for (int i = 0; i < 9; ++i) {
    const double a = i * 40.0 * CV_PI / 180.0, b = (i * 40.0 + 30.0) * CV_PI / 180.0;
    s.polygon({{0.72 + 0.02 * std::cos(a), 0.72 + 0.02 * std::sin(a)},
               {0.72 + 0.135 * std::cos(a), 0.72 + 0.135 * std::sin(a)},
               {0.72 + 0.135 * std::cos(b), 0.72 + 0.135 * std::sin(b)}},
              {246, 224, 90});
  }
}

void banana(Scene& s) {
  table(s, {176, 176, 180}, {206, 206, 208});
  s.shadow({0.52, 0.78}, {0.40, 0.07});
  for (int i = 0; i < 3; ++i) {
    const double y = 0.10 * i;
    Points outer = arc({0.50, 0.24 + y}, {0.42, 0.42}, 10, 165),
           inner = arc({0.50, 0.12 + y}, {0.38, 0.40}, 165, 16);
    outer.insert(outer.end(), inner.begin(), inner.end());
    s.polygon(outer, Rgb{244, 210, 52} * (0.88 + 0.06 * i));
    s.line(arc({0.50, 0.20 + y}, {0.40, 0.40}, 20, 158), 0.006, {204, 164, 30});
  }
  s.line({{0.10, 0.34}, {0.07, 0.24}}, 0.035, {110, 96, 30});
  s.disc({0.90, 0.42}, 0.022, {70, 56, 24});
}

void bell_pepper(Scene& s) {
  table(s, {206, 200, 190}, {230, 226, 220});
  s.shadow({0.50, 0.86}, {0.34, 0.06});
  const Rgb red{200, 24, 20};
  s.ellipse({0.34, 0.58}, {0.17, 0.29}, 6.0, red);
  s.ellipse({0.66, 0.58}, {0.17, 0.29}, -6.0, red);
  s.ellipse({0.50, 0.60}, {0.17, 0.30}, 0.0, red * 1.1);
  s.line(arc({0.50, 0.60}, {0.15, 0.28}, 110, 250), 0.010, red * 0.7);
  s.line(arc({0.50, 0.60}, {0.15, 0.28}, -70, 70), 0.010, red * 0.7);
  s.ellipse({0.28, 0.46}, {0.03, 0.10}, 12.0, {246, 160, 150});
  s.ellipse({0.50, 0.32}, {0.13, 0.05}, 0.0, {60, 120, 40});
  s.line({{0.50, 0.32}, {0.50, 0.20}, {0.57, 0.12}}, 0.050, {70, 136, 48});
}

void mushroom(Scene& s) {
  s.sky({70, 100, 50}, {96, 120, 62}, 1.0);
  s.foliage({86, 116, 56}, 0.0, 1.0, 50);
  s.ground({70, 60, 36}, {86, 96, 48}, 0.80, 1.4);
  s.shadow({0.50, 0.90}, {0.24, 0.04});
  s.polygon({{0.43, 0.46}, {0.57, 0.46}, {0.61, 0.88}, {0.39, 0.88}}, {236, 226, 204});
  s.ellipse({0.50, 0.56}, {0.13, 0.035}, 0.0, {220, 206, 180});
  Points cap = arc({0.50, 0.48}, {0.36, 0.34}, 180, 360);
  const Points under = arc({0.50, 0.48}, {0.36, 0.06}, 0, 180);
  cap.insert(cap.end(), under.begin(), under.end());
  s.polygon(cap, {170, 112, 66});
  s.ellipse({0.50, 0.49}, {0.33, 0.045}, 0.0, {226, 204, 168});
  s.ellipse({0.40, 0.26}, {0.12, 0.05}, -20.0, {206, 156, 110});
}

constexpr std::array<Picture, 7> kPictures{{{"goldfish", goldfish},
                                            {"ladybug", ladybug},
                                            {"jellyfish", jellyfish},
                                            {"lemon", lemon},
                                            {"banana", banana},
                                            {"bell_pepper", bell_pepper},
                                            {"mushroom", mushroom}}};

}  // namespace

std::span<const Picture> living_pictures() {
  return kPictures;
}

}  // namespace vit::pictures
