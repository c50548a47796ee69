#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tools/analysis/picture.h"
#include "tools/draw/heatmap.h"

namespace vit::tools {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

TEST(ColourBar, NumbersAreRound) {
  const auto near = [](double value) { return DoubleNear(value, 1e-12); };
  EXPECT_THAT(round_numbers(0.0, 0.0617), ElementsAre(near(0), near(0.02), near(0.04), near(0.06)));
  EXPECT_THAT(round_numbers(0.35, 0.88),
              ElementsAre(near(0.4), near(0.5), near(0.6), near(0.7), near(0.8)));
  EXPECT_THAT(round_numbers(0.0, 1.0),
              ElementsAre(near(0), near(0.2), near(0.4), near(0.6), near(0.8), near(1.0)));
  EXPECT_THAT(round_numbers(-1.0, 0.5), ElementsAre(near(-1), near(-0.5), near(0), near(0.5)));
  EXPECT_THAT(round_numbers(2.0, 2.0), ElementsAre(2.0));
  EXPECT_FALSE(std::signbit(round_numbers(0.0, 1.0).front()));
  for (double high = 1e-6; high < 1e6; high *= 1.37) {
    const auto numbers = round_numbers(0.0, high);
    EXPECT_GE(numbers.size(), 3u) << high;
    EXPECT_LE(numbers.size(), 8u) << high;
    EXPECT_LE(numbers.back(), high * (1.0 + 1e-6));
  }
}

TEST(ColourScale, RolloutStartsAtItsSmallestNumberAndAttentionAtZero) {
  const std::vector<float> patches{0.5f, 0.6f, 0.9f};
  LookSettings look;
  look.clip_percentile = 100.0;
  const ColourScale rollout = scale_for(patches, MapMethod::kRollout, look);
  EXPECT_FLOAT_EQ(static_cast<float>(rollout.low), 0.5f);
  EXPECT_FLOAT_EQ(static_cast<float>(rollout.high), 0.9f);
  EXPECT_EQ(scale_for(patches, MapMethod::kAttention, look).low, 0.0);
  // All equal: the first colour, no division by 0.
  const std::vector<float> flat(4, 0.25f);
  const ColourScale level = scale_for(flat, MapMethod::kRollout, look);
  EXPECT_EQ(level.place(0.25), 0.0);
}

TEST(HeatMap, EveryNumberHasAColourOfThePalette) {
  const float nan = std::nanf(""), infinite = INFINITY;
  const ColourScale scale{.low = 0.0, .high = 1.0};
  EXPECT_EQ(scale.index(nan), 0u);
  EXPECT_EQ(scale.index(infinite), 255u);
  EXPECT_EQ(scale.index(-infinite), 0u);
  EXPECT_EQ((ColourScale{.low = 0.0, .high = infinite}.index(infinite)), 0u);
  const std::vector<float> numbers{nan, infinite, -infinite, 0.5f};
  const Image cells = heat_cells(numbers, 2, 3, scale);
  EXPECT_EQ(cells.width, 6u);
  LookSettings look;
  look.threshold = 0.5;
  const ColourScale of_map = scale_for(numbers, MapMethod::kRollout, look);
  const Image drawn = overlay(cells, numbers, {2, 2}, {.scale = of_map});
  Picture bar{blank(kBarWidth, 60)};
  for (const double high : {1.0, static_cast<double>(infinite), static_cast<double>(nan)})
    colour_bar(bar, {0, 0, kBarWidth, 60}, {.low = 0.0, .high = high}, {});
  EXPECT_EQ(drawn.pixels.size(), cells.pixels.size());
}

}  // namespace
}  // namespace vit::tools
