#include "tools/explorer/packing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/interpret/synthetic.h"
#include "tests/tools/attention/unpacked.h"

namespace vit::tools {
namespace {

/// Every weight comes back, as exactly as packing.h says.
void expect_close(const interpret::AttentionMaps& maps) {
  const auto got = test::unpacked(packed_attention(maps), maps);
  const ConstMatrixView weights = maps.weights.view();
  const size_t first = maps.layout.first_patch();
  for (size_t r = 0; r < weights.rows; ++r)
    for (size_t c = 0; c < weights.cols; ++c) {
      const float weight = std::max(weights(r, c), 0.0f), read = got.weights(r, c);
      if (c < first) {
        ASSERT_NEAR(read, weight, 4e-5f) << r << ", " << c;
      } else {
        ASSERT_LE(std::abs(read - weight), 1.001f / 70.0f * std::max(weight, got.units[r]))
            << r << ", " << c << ": " << weight << " is read as " << read;
      }
    }
}

/// A head that looks at its neighbours and at an object, whatever the noise: what neighbouring
/// queries see differs little, as in trained models.
interpret::AttentionMaps smooth_maps(GridSize grid, size_t layers, size_t heads) {
  auto maps = test::random_maps(test::layout_of(grid), layers, heads);
  const size_t first = maps.layout.first_patch(), tokens = maps.layout.tokens();
  const auto place = [&](size_t token) {
    const size_t patch = token < first ? 0 : token - first;
    return std::pair{static_cast<double>(patch / grid.cols),
                     static_cast<double>(patch % grid.cols)};
  };
  for (size_t r = 0; r < maps.weights.rows(); ++r)
    for (size_t c = 0; c < tokens; ++c) {
      const auto [qy, qx] = place(r % tokens);
      const auto [ky, kx] = place(c);
      const double near = std::hypot(qy - ky, qx - kx), object = std::hypot(ky - 9.0, kx - 14.0);
      const double noise = std::pow(static_cast<double>(maps.weights(r, c)), 0.2);
      maps.weights(r, c) = static_cast<float>(
          noise * (0.1 + std::exp(-near / 4.0) + 2.0 * std::exp(-object * object / 20.0)));
    }
  test::normalize_rows(maps.weights.view());
  return maps;
}

TEST(PackedAttention, GivesEveryWeightBack) {
  expect_close(test::random_maps(test::layout_of({5, 7}, 2), 2, 3));
  expect_close(smooth_maps({24, 24}, 1, 1));
  for (const GridSize grid : {GridSize{1, 1}, GridSize{1, 6}, GridSize{6, 1}})
    expect_close(test::random_maps(test::layout_of(grid), 1, 2));
  auto averaging = test::random_maps({.prefix = {}, .grid = {4, 4}}, 1, 2);
  expect_close(averaging);
}

TEST(PackedAttention, HoldsWhatIsFarFromCommon) {
  auto maps = test::random_maps(test::layout_of({6, 6}), 1, 2, 3);
  const auto row = [&](size_t r) { return maps.weights.view().row_span(r); };
  std::ranges::fill(row(3), 0.0f);                // nothing at all
  row(3)[0] = 1.0f;                               // … but to the class token
  for (float& weight : row(8)) weight *= 1e-12f;  // next to nothing, between ordinary queries
  for (float& weight : row(20)) weight = 1e-9f;   // all at one patch
  row(20)[17] = 1.0f;
  row(21)[5] = -0.2f;  // differential attention
  row(21)[0] = 1.4f;
  expect_close(maps);
}

/// What a class token keeps for itself does not make the patches coarser.
TEST(PackedAttention, ScalesPatchesByPatches) {
  auto maps = test::random_maps(test::layout_of({6, 6}), 1, 1);
  for (size_t r = 0; r < maps.weights.rows(); ++r) {
    for (float& weight : maps.weights.view().row_span(r)) weight *= 0.001f;
    maps.weights(r, 0) = 0.999f;
  }
  expect_close(maps);
  const auto got = test::unpacked(packed_attention(maps), maps);
  for (const float unit : got.units) EXPECT_LT(unit, 0.001f);
}

TEST(PackedAttention, TakesLessThanHalfOfTheBytesOfItsWeights) {
  const auto maps = smooth_maps({24, 24}, 2, 2);
  const size_t tokens = maps.layout.tokens();
  EXPECT_LT(packed_attention(maps).size(), maps.layers * maps.heads * tokens * tokens / 2);
}

TEST(PlainAttention, KeepsEveryWeightWithinA255thOfItsRowsMaximum) {
  const auto maps = test::random_maps(test::layout_of({5, 7}, 2), 2, 3);
  const std::string bytes = plain_attention(maps);
  const ConstMatrixView weights = maps.weights.view();
  ASSERT_EQ(bytes.size(), weights.rows * (4 + weights.cols));
  for (size_t r = 0; r < weights.rows; ++r) {
    float largest = 0.0f;
    std::memcpy(&largest, bytes.data() + 4 * r, 4);
    for (size_t c = 0; c < weights.cols; ++c) {
      const auto byte = static_cast<unsigned char>(bytes[4 * weights.rows + r * weights.cols + c]);
      const float part = static_cast<float>(byte) / 255.0f;
      EXPECT_LE(std::abs(part * part * largest - weights(r, c)), largest / 255.0f);
    }
  }
}

}  // namespace
}  // namespace vit::tools
