#include "vit/interpret/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/interpret/synthetic.h"

namespace vit::interpret {
namespace {

double naive_distance(ConstMatrixView head, const TokenLayout& layout) {
  double total = 0.0;
  for (size_t i = 0; i < layout.grid.count(); ++i) {
    double mass = 0.0, moment = 0.0;
    for (size_t j = 0; j < layout.grid.count(); ++j) {
      const double weight = head(layout.first_patch() + i, layout.first_patch() + j);
      const auto place = [&](size_t patch) {
        return std::pair(static_cast<double>(patch / layout.grid.cols * layout.patch_height),
                         static_cast<double>(patch % layout.grid.cols * layout.patch_width));
      };
      mass += weight;
      moment +=
          weight * std::hypot(place(i).first - place(j).first, place(i).second - place(j).second);
    }
    total += moment / mass;
  }
  return total / static_cast<double>(layout.grid.count());
}

TEST(Statistics, DistanceEqualsItsDefinitionOnAnyGrid) {
  for (const GridSize grid : {GridSize{3, 5}, GridSize{14, 14}, GridSize{7, 2}}) {
    TokenLayout layout = test::layout_of(grid, 4);
    layout.patch_height = 14;
    layout.patch_width = 20;
    const Matrix head = test::random_attention(layout.tokens(), layout.tokens(), 3, 2.0f);
    const double expected = naive_distance(head, layout);
    EXPECT_NEAR(attention_distance(head, layout), expected, 1e-6 * expected);
  }
}

TEST(Statistics, DistanceIgnoresAttentionToPrefixTokens) {
  const TokenLayout layout = test::layout_of({1, 2});
  Matrix head(3, 3);
  for (size_t i = 0; i < 3; ++i) head(i, 0) = 0.9f;
  head(1, 2) = head(2, 1) = 0.1f;
  head(0, 1) = 0.1f;
  EXPECT_NEAR(attention_distance(head, layout), 16.0, 1e-6);
  EXPECT_NEAR(mean_prefix_mass(head, layout), 0.9, 1e-6);
}

TEST(Statistics, PatchesThatAttendOnlyToPrefixTokensDoNotCount) {
  const TokenLayout layout = test::layout_of({1, 2});
  Matrix head(3, 3);
  head(0, 0) = head(1, 0) = 1.0f;
  head(2, 1) = 1.0f;
  EXPECT_NEAR(attention_distance(head, layout), 16.0, 1e-6);
  Matrix sink(3, 3);
  for (size_t i = 0; i < 3; ++i) sink(i, 0) = 1.0f;
  EXPECT_EQ(attention_distance(sink, layout), 0.0);
}

TEST(Statistics, EntropyIsInBits) {
  Matrix even(4, 8), sharp(4, 8);
  for (size_t i = 0; i < 4; ++i) {
    sharp(i, i) = 1.0f;
    for (size_t j = 0; j < 8; ++j) even(i, j) = 0.125f;
  }
  EXPECT_NEAR(attention_entropy(even), 3.0, 1e-6);
  EXPECT_EQ(attention_entropy(sharp), 0.0);
}

}  // namespace
}  // namespace vit::interpret
