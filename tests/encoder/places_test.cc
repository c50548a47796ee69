#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/random.h"
#include "vit/encoder/attention.h"
#include "vit/encoder/block.h"
#include "vit/encoder/relative_bias.h"
#include "vit/encoder/rotary.h"

namespace vit {
namespace {

TEST(Rotary, AxialAnglesTakeHalfFromTheRowAndHalfFromTheColumn) {
  const RotaryConfig config{.kind = RotaryKind::kAxial, .temperature = 100.0f};
  const std::vector<double> angles = rotary_angles(config, {2, 3}, 8);  // f: 1, 0.1
  ASSERT_EQ(angles.size(), 6u * 4u);
  const double last[] = {1.0, 0.1, 2.0, 0.2};  // row 1, column 2
  for (size_t m = 0; m < 4; ++m) EXPECT_DOUBLE_EQ(angles[5 * 4 + m], last[m]);
  RotaryConfig turned = config;
  turned.columns_first = true;
  EXPECT_DOUBLE_EQ(rotary_angles(turned, {2, 3}, 8)[5 * 4], 2.0);
}

TEST(Rotary, AReferenceGridScalesIndicesAndOffset) {
  const RotaryConfig config{.kind = RotaryKind::kAxial, .offset = 1.0f, .reference = {16, 32}};
  const std::vector<double> angles = rotary_angles(config, {8, 8}, 4);
  EXPECT_DOUBLE_EQ(angles[2 * (3 * 8 + 5)], (3.0 + 1.0) / 8.0 * 16.0);
  EXPECT_DOUBLE_EQ(angles[2 * (3 * 8 + 5) + 1], (5.0 + 1.0) / 8.0 * 32.0);
}

TEST(Rotary, NormalizedAnglesAreTurnsOfPatchCentresByPeriods) {
  const RotaryConfig config{.kind = RotaryKind::kNormalized, .temperature = 100.0f};
  const double pi = std::acos(-1.0);
  const std::vector<double> angles = rotary_angles(config, {1, 4}, 8);
  EXPECT_DOUBLE_EQ(angles[0], 0.0);                        // one row: its centre
  EXPECT_DOUBLE_EQ(angles[2], 2.0 * pi * -0.75);           // first column, period 1
  EXPECT_NEAR(angles[3], 2.0 * pi * -0.75 / 10.0, 1e-12);  // period 100^(1/2)
  const float periods[] = {1.0f, 8.0f};
  EXPECT_DOUBLE_EQ(rotary_angles(config, {1, 4}, 8, periods)[3], 2.0 * pi * -0.75 / 8.0);
}

/// BEiT's authors give 1.090307 for 14 to 24 patches, and the last place is the last offset.
TEST(RelativeBias, GeometricPlacesReachTheLastOffset) {
  const std::vector<OffsetTap> taps = offset_taps(14, 24, RelativeResampling::kGeometric);
  ASSERT_EQ(taps.size(), 47u);
  EXPECT_EQ(taps[23].input, 13u);  // offset 0 stays 0
  EXPECT_DOUBLE_EQ(taps[23].share, 0.0);
  EXPECT_EQ(taps[24].input, 14u);  // and 1 stays 1
  EXPECT_NEAR(taps[25].share, 1.0 / 1.090307, 1e-5);
  EXPECT_NEAR(static_cast<double>(taps[46].input) + taps[46].share, 26.0, 1e-4);
  EXPECT_NEAR(static_cast<double>(taps[0].input) + taps[0].share, 0.0, 1e-4);
}

TEST(RelativeBias, TheSameGridKeepsTheTableToTheBit) {
  for (const auto way : {RelativeResampling::kGeometric, RelativeResampling::kBilinear}) {
    const RelativeBiasConfig config{
        .kind = RelativeBiasKind::kTable, .class_rows = true, .grid = {3, 4}, .resampling = way};
    RelativeBiasWeights weights;
    weights.table = test::random_matrix(config.table_rows(), 2, 5);
    OffsetBias bias;
    bias.prefix = 1;
    bias.grid = {3, 4};
    add_relative_bias(config, weights, bias);
    const size_t last = bias.offsets.cols() - 1;
    for (size_t h = 0; h < 2; ++h) {
      for (size_t i = 0; i <= last; ++i) EXPECT_EQ(bias.offsets(h, last - i), weights.table(i, h));
      for (size_t i = 0; i < 3; ++i) EXPECT_EQ(bias.of_prefix(h, i), weights.table(35 + i, h));
    }
  }
}

TEST(Places, BlocksWhoseScoresKnowThemDoNotMergeTokens) {
  Block block;
  block.attention.emplace_back();
  EXPECT_TRUE(can_merge(block));
  block.attention.front().attention.rotary = std::make_shared<const Rotary>();
  EXPECT_FALSE(can_merge(block));
  block.attention.front().attention.rotary = nullptr;
  block.attention.front().attention.offsets = std::make_shared<const OffsetBias>();
  EXPECT_FALSE(can_merge(block));
}

}  // namespace
}  // namespace vit
