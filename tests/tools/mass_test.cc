#include "tools/draw/mass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tools/draw/colormap.h"

namespace vit::tools {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST(Mass, TakesTheFewestPatchesThatHoldTheFraction) {
  const std::vector<float> map{0.1f, 0.4f, 0.2f, 0.3f};
  EXPECT_THAT(mass_set(map, 0.4), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(mass_set(map, 0.41), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(mass_set(map, 0.9), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(mass_set(map, 1.0), Each(1));
  EXPECT_THAT(mass_set(map, 0.0), Each(0));
}

TEST(Mass, CountsNanAsZero) {
  const std::vector<float> map{std::nanf(""), 0.4f, INFINITY, 0.6f};
  EXPECT_THAT(mass_set(map, 1.0), ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(percentile(map, 100.0), 0.6f);
}

TEST(Mass, IsTheSmallestSuchSetByTryingAll) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  std::vector<float> map(10);
  for (float& value : map) value = uniform(engine);
  double total = 0.0;
  for (const float value : map) total += value;
  for (const double fraction : {0.2, 0.5, 0.8}) {
    size_t fewest = map.size();
    for (unsigned subset = 0; subset < 1024; ++subset) {
      double held = 0.0;
      size_t count = 0;
      for (size_t i = 0; i < map.size(); ++i)
        if (subset >> i & 1) {
          held += map[i];
          ++count;
        }
      if (held >= fraction * total) fewest = std::min(fewest, count);
    }
    const auto members = mass_set(map, fraction);
    EXPECT_EQ(static_cast<size_t>(std::count(members.begin(), members.end(), 1)), fewest);
  }
}

TEST(Mass, LeavesOutWhatHoldsNothing) {
  EXPECT_THAT(mass_set(std::vector<float>{0.0f, 1.0f, -1.0f}, 1.0), ElementsAre(0, 1, 0));
  EXPECT_THAT(mass_set(std::vector<float>{0.0f, 0.0f}, 0.5), Each(0));
}

TEST(Percentile, InterpolatesBetweenNeighbours) {
  const std::vector<float> map{3.0f, 1.0f, 2.0f, 4.0f, 100.0f};
  EXPECT_DOUBLE_EQ(percentile(map, 0), 1.0);
  EXPECT_DOUBLE_EQ(percentile(map, 50), 3.0);
  EXPECT_DOUBLE_EQ(percentile(map, 75), 4.0);
  EXPECT_NEAR(percentile(map, 80), 4.0 + 0.2 * 96.0, 1e-9);
  EXPECT_DOUBLE_EQ(percentile(map, 100), 100.0);
  EXPECT_DOUBLE_EQ(percentile({}, 50), 0.0);
}

double luminance(Colour colour) {
  const auto linear = [](std::uint8_t byte) { return std::pow(byte / 255.0, 2.2); };
  return 0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2]);
}

TEST(Colormap, GetsLighterWithTheNumber) {
  for (const auto map : {Colormap::kInferno, Colormap::kViridis, Colormap::kGray}) {
    const Palette colours = palette(map);
    for (size_t i = 24; i < colours.size(); ++i)
      EXPECT_GT(luminance(colours[i]), luminance(colours[i - 12])) << to_string(map) << " " << i;
  }
}

TEST(Colormap, RunsSmoothlyAndStopsAtItsEnds) {
  for (const auto& [map, name] : enum_names(Colormap{})) {
    const Palette colours = palette(map);
    for (size_t i = 1; i < colours.size(); ++i)
      for (size_t channel = 0; channel < 3; ++channel)
        EXPECT_LE(std::abs(colours[i][channel] - colours[i - 1][channel]), 20) << name << " " << i;
    EXPECT_EQ(colour_of(map, -1.0), colours.front());
    EXPECT_EQ(colour_of(map, 2.0), colours.back());
    EXPECT_EQ(colour_of(map, std::nan("")), colours.front());
  }
  EXPECT_EQ(colour_of(Colormap::kGray, 0.0), (Colour{0, 0, 0}));
  EXPECT_EQ(colour_of(Colormap::kGray, 1.0), (Colour{255, 255, 255}));
}

}  // namespace
}  // namespace vit::tools
