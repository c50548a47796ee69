#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/random.h"
#include "vit/encoder/attention.h"
#include "vit/encoder/block.h"
#include "vit/encoder/interpolation.h"
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

TEST(Rotary, NormalizedAnglesAreTwoPiTimesCentresOverPeriods) {
  const RotaryConfig config{.kind = RotaryKind::kNormalized, .temperature = 100.0f};
  const double pi = std::acos(-1.0);
  const std::vector<double> angles = rotary_angles(config, {1, 4}, 8);
  EXPECT_DOUBLE_EQ(angles[0], 0.0);                        // one row: its centre
  EXPECT_DOUBLE_EQ(angles[2], 2.0 * pi * -0.75);           // first column, period 1
  EXPECT_NEAR(angles[3], 2.0 * pi * -0.75 / 10.0, 1e-12);  // period 100^(1/2)
  const float periods[] = {1.0f, 8.0f};
  EXPECT_DOUBLE_EQ(rotary_angles(config, {1, 4}, 8, periods)[3], 2.0 * pi * -0.75 / 8.0);
}

/// A table of 27 x 27 offsets whose numbers are the row's.
RelativeBiasConfig rows_of_14(RelativeResampling resampling) {
  return {.kind = RelativeBiasKind::kTable, .grid = {14, 14}, .resampling = resampling};
}

Matrix numbered_rows() {
  Matrix table(27 * 27, 1);
  for (size_t i = 0; i < table.rows(); ++i) table(i, 0) = static_cast<float>(i / 27);
  return table;
}

/// BEiT's authors give 1.090307 for 14 to 24 patches, and the last place is the last offset.
TEST(RelativeBias, GeometricPlacesReachTheLastOffset) {
  const Matrix resampled =
      resample_bias_table(rows_of_14(RelativeResampling::kGeometric), numbered_rows(), {24, 14});
  ASSERT_EQ(resampled.rows(), 47u * 27u);
  const auto row = [&](size_t i) { return resampled(i * 27 + 5, 0); };
  EXPECT_FLOAT_EQ(row(23), 13.0f);  // offset 0 stays 0
  EXPECT_FLOAT_EQ(row(24), 14.0f);  // and 1 stays 1
  EXPECT_NEAR(row(25), 14.0 + 1.0 / 1.090307, 1e-5);
  EXPECT_NEAR(row(46), 26.0, 1e-4);
  EXPECT_NEAR(row(0), 0.0, 1e-4);
}

/// What scipy 1.10's interp2d(kind='cubic') answers at the geometric places of 3 to 5 patches, as
/// BEiT's authors use it. Their values stand at -1 - q, -1, 0, 1, 1 + q with q = 1.5.
TEST(RelativeBias, CubicSplinesEqualThoseOfBeitsAuthors) {
  const RelativeBiasConfig config{.kind = RelativeBiasKind::kTable,
                                  .grid = {3, 3},
                                  .resampling = RelativeResampling::kGeometricCubic};
  Matrix table(25, 1);
  for (size_t i = 0; i < 25; ++i)
    table(i, 0) = static_cast<float>(static_cast<int>(i * i * 7 % 23) - 11);
  const Matrix resampled = resample_bias_table(config, table, {5, 4});
  const double expected[9][7] = {
      {-11, -3.390486, -4, -6, 6, 14.3238, 9},
      {-11, -3.390486, -4, -6, 6, 14.3238, 9},
      {-0.9066781, 4.09005, 6.672369, 4.900941, 4.293335, 5.903952, 7.521906},
      {3, 5.712379, 11, 10, 0, -3.259038, 4},
      {-1, 1.94095, 8, 8, -1, -3.487609, 4},
      {0, 3.169521, 10, 11, 3, 1.283819, 9},
      {4.293335, 1.888701, 4.900941, 6.672369, -0.9066781, -2.370889, 5.864751},
      {6, -3.438084, -6, -4, -11, -12.29523, -4},
      {6, -3.438084, -6, -4, -11, -12.29523, -4}};
  ASSERT_EQ(resampled.rows(), 63u);
  for (size_t i = 0; i < resampled.rows(); ++i)
    EXPECT_NEAR(resampled(i, 0), expected[i / 7][i % 7], 2e-5);
}

TEST(Interpolation, ASplineGivesBackACubic) {
  const auto cubic = [](double x) { return ((0.5 * x - 2.0) * x + 1.0) * x + 3.0; };
  const std::vector<double> places{-2.0, -1.5, 0.0, 0.25, 3.0}, at{-3.0, -1.75, 0.1, 2.0, 3.0, 9.0};
  std::vector<double> values;
  for (const double x : places) values.push_back(cubic(x));
  const std::vector<double> got = interpolate_by_spline(places, values, at);
  for (size_t i = 0; i < at.size(); ++i)
    EXPECT_NEAR(got[i], cubic(std::clamp(at[i], -2.0, 3.0)), 1e-12);
}

TEST(Interpolation, FewPointsAreJoinedByLines) {
  const std::vector<double> at{-1.0, 0.5, 1.5, 4.0};
  EXPECT_EQ(interpolate_by_spline(std::vector{1.0}, std::vector{7.0}, at),
            (std::vector{7.0, 7.0, 7.0, 7.0}));
  EXPECT_EQ(interpolate_by_spline(std::vector{0.0, 1.0, 2.0}, std::vector{0.0, 2.0, 1.0}, at),
            (std::vector{0.0, 1.0, 1.5, 1.0}));
}

TEST(RelativeBias, TheSameGridKeepsTheTableToTheBit) {
  for (const auto way : {RelativeResampling::kGeometric, RelativeResampling::kGeometricCubic,
                         RelativeResampling::kBilinear}) {
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
