#include "patch/position.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <random>

#include "tests/support/golden.h"
#include "tests/support/paths.h"
#include "vit/base/error.h"

namespace vit::patch {
namespace {

using vit::test::GoldenTensor;
using vit::test::read_golden;

constexpr PositionResampling kAll[] = {
    PositionResampling::kBilinear, PositionResampling::kBilinearAlignCorners,
    PositionResampling::kBicubic, PositionResampling::kBicubicAntialias,
    PositionResampling::kBilinearAntialias};

Matrix random_table(size_t rows, size_t width) {
  Matrix table(rows, width);
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (size_t i = 0; i < table.size(); ++i) table.data()[i] = normal(random);
  return table;
}

TEST(ResamplePositions, EqualsTheFourReferenceTables) {
  const std::filesystem::path folder = vit::test::goldens() / "position_bilinear";
  const GoldenTensor stored = read_golden(folder / "model.safetensors").at("pos_embed");
  const size_t width = stored.shape.back();
  const ConstMatrixView table(stored.values.data() + width, 16, width);  // the first row: prefix
  const std::map<std::string, PositionResampling> ways = {
      {"bilinear", PositionResampling::kBilinear},
      {"bilinear_align_corners", PositionResampling::kBilinearAlignCorners},
      {"bicubic", PositionResampling::kBicubic},
      {"bicubic_antialias", PositionResampling::kBicubicAntialias}};
  for (const auto& [name, way] : ways) {
    const GoldenTensor expected =
        read_golden(folder / ("expected_" + name + ".safetensors")).at("positions");
    ASSERT_EQ(expected.shape, (std::vector<size_t>{49, width}));
    const Matrix resampled = resample_positions(table, {4, 4}, {8, 6}, way);
    for (size_t i = 0; i < resampled.size(); ++i)
      ASSERT_NEAR(resampled.data()[i], expected.values[width + i], 1e-6) << name << " at " << i;
  }
}

/// Shrinking by two, the triangle is four inputs wide: 1, 3, 3, 1, cut at the ends.
TEST(ResamplePositions, AntialiasedBilinearAveragesAllThatAnOutputCovers) {
  Matrix table(6, 1);
  for (size_t i = 0; i < 6; ++i) table(i, 0) = static_cast<float>(i * i);
  const Matrix half =
      resample_positions(table, {1, 6}, {1, 3}, PositionResampling::kBilinearAntialias);
  EXPECT_FLOAT_EQ(half(0, 0), (3.0f * 0 + 3.0f * 1 + 4.0f) / 7.0f);
  EXPECT_FLOAT_EQ(half(1, 0), (1.0f + 3.0f * 4 + 3.0f * 9 + 16.0f) / 8.0f);
  EXPECT_FLOAT_EQ(half(2, 0), (9.0f + 3.0f * 16 + 3.0f * 25) / 7.0f);
}

TEST(ResamplePositions, TheSameGridIsAnExactCopy) {
  const Matrix table = random_table(15, 7);
  for (const PositionResampling way : kAll) {
    const Matrix copy = resample_positions(table, {3, 5}, {3, 5}, way);
    EXPECT_TRUE(std::equal(copy.data(), copy.data() + copy.size(), table.data()));
  }
}

TEST(ResamplePositions, KeepsAConstantTableWhateverTheGrids) {
  for (const PositionResampling way : kAll)
    for (const GridSize from : {GridSize{1, 1}, {1, 5}, {14, 14}, {2, 3}})
      for (const GridSize to : {GridSize{1, 1}, {7, 3}, {37, 37}, {14, 15}}) {
        Matrix table(from.count(), 2);
        std::fill_n(table.data(), table.size(), 0.75f);
        const Matrix resampled = resample_positions(table, from, to, way);
        for (size_t i = 0; i < resampled.size(); ++i) ASSERT_NEAR(resampled.data()[i], 0.75f, 1e-6);
      }
}

TEST(ResamplePositions, KeepsRowsAndColumnsApart) {
  // The value is the row, or the column: inside, linear resampling must give them back.
  const GridSize from{6, 9}, to{12, 27};
  Matrix table(from.count(), 2);
  for (size_t p = 0; p < from.count(); ++p) {
    table(p, 0) = static_cast<float>(p / from.cols);
    table(p, 1) = static_cast<float>(p % from.cols);
  }
  const Matrix resampled = resample_positions(table, from, to, PositionResampling::kBilinear);
  for (size_t y = 1; y < to.rows - 1; ++y)
    for (size_t x = 1; x < to.cols - 1; ++x) {
      ASSERT_NEAR(resampled(y * to.cols + x, 0), (static_cast<double>(y) + 0.5) / 2 - 0.5, 1e-6);
      ASSERT_NEAR(resampled(y * to.cols + x, 1), (static_cast<double>(x) + 0.5) / 3 - 0.5, 1e-6);
    }
}

TEST(ResamplePositions, AlignedCornersStayWhereTheyAre) {
  const Matrix table = random_table(12, 4);
  const Matrix resampled =
      resample_positions(table, {3, 4}, {9, 10}, PositionResampling::kBilinearAlignCorners);
  for (size_t d = 0; d < 4; ++d) {
    EXPECT_FLOAT_EQ(resampled(0, d), table(0, d));
    EXPECT_FLOAT_EQ(resampled(9, d), table(3, d));
    EXPECT_FLOAT_EQ(resampled(80, d), table(8, d));
    EXPECT_FLOAT_EQ(resampled(89, d), table(11, d));
  }
}

TEST(ResamplePositions, NamesTheGridAndTheRowsWhenTheyDisagree) {
  try {
    resample_positions(random_table(17, 4), {4, 4}, {8, 8}, PositionResampling::kBilinear);
    FAIL() << "accepted a prefix row";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "position table has 17 rows, expected 4x4 of its grid");
  }
  EXPECT_THROW(
      resample_positions(random_table(16, 4), {4, 4}, {0, 8}, PositionResampling::kBilinear),
      Error);
}

TEST(SinusoidalPositions, FollowVaswaniInOneDimension) {
  const Matrix table = sinusoidal_positions_1d(50, 10);
  for (size_t p = 0; p < 50; ++p)
    for (size_t i = 0; i < 5; ++i) {
      const double angle =
          static_cast<double>(p) / std::pow(10000.0, 2.0 * static_cast<double>(i) / 10.0);
      EXPECT_NEAR(table(p, 2 * i), std::sin(angle), 1e-6);
      EXPECT_NEAR(table(p, 2 * i + 1), std::cos(angle), 1e-6);
    }
}

TEST(SinusoidalPositions, FollowMaeInTwoDimensions) {
  const GridSize grid{3, 5};
  const Matrix table = sinusoidal_positions_2d(grid, 16);
  for (size_t y = 0; y < 3; ++y)
    for (size_t x = 0; x < 5; ++x)
      for (size_t i = 0; i < 4; ++i) {
        const double frequency = 1.0 / std::pow(10000.0, static_cast<double>(i) / 4.0);
        const size_t row = y * 5 + x;
        EXPECT_NEAR(table(row, i), std::sin(static_cast<double>(x) * frequency), 1e-6);
        EXPECT_NEAR(table(row, 4 + i), std::cos(static_cast<double>(x) * frequency), 1e-6);
        EXPECT_NEAR(table(row, 8 + i), std::sin(static_cast<double>(y) * frequency), 1e-6);
        EXPECT_NEAR(table(row, 12 + i), std::cos(static_cast<double>(y) * frequency), 1e-6);
      }
}

TEST(SinusoidalPositions, NeedAWidthThatIsAMultipleOfFour) {
  try {
    sinusoidal_positions_2d({2, 2}, 10);
    FAIL() << "accepted a width of 10";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "sinusoidal positions of width 10: expected a multiple of 4");
  }
}

}  // namespace
}  // namespace vit::patch
