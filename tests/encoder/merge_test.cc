#include "vit/encoder/merge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/support/random.h"

namespace vit {
namespace {

/// Keys in one head: tokens of the same group point the same way.
Matrix grouped_keys(const std::vector<size_t>& groups) {
  Matrix keys(groups.size(), 8);
  for (size_t t = 0; t < groups.size(); ++t) keys(t, groups[t]) = 2.0f;
  return keys;
}

TEST(TokenMerge, MergesTheMostAlikeAndWeighsBySize) {
  // Tokens 2 (even) and 5 (odd) are alike, all others differ.
  const Matrix keys = grouped_keys({0, 1, 2, 3, 4, 2});
  Matrix tokens = test::random_matrix(6, 3, 1);
  const Matrix before = test::random_matrix(6, 3, 1);
  TokenMerge merge(1, 0);
  merge.start(6);
  const MatrixView left = merge.merge(keys, 1, tokens, active_isa());
  ASSERT_EQ(left.rows, 5u);
  const std::vector<std::uint32_t> sources(merge.sources().begin(), merge.sources().end());
  EXPECT_EQ(sources, (std::vector<std::uint32_t>{0, 1, 4, 2, 3, 4}));
  for (size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(left(0, c), before(0, c));
    EXPECT_FLOAT_EQ(left(4, c), 0.5f * (before(2, c) + before(5, c)));
  }
  EXPECT_EQ(merge.sizes()[4], 2.0f);
  EXPECT_FLOAT_EQ(merge.key_bias()[4], std::log(2.0f));
  EXPECT_EQ(merge.key_bias()[0], 0.0f);
}

TEST(TokenMerge, SeveralTokensMayMergeIntoOne) {
  const Matrix keys = grouped_keys({0, 1, 0, 2, 3, 0});  // 0 and 2 are both like 5
  Matrix tokens = test::random_matrix(6, 3, 1);
  const Matrix before = test::random_matrix(6, 3, 1);
  TokenMerge merge(2, 0);
  merge.start(6);
  const MatrixView left = merge.merge(keys, 1, tokens, active_isa());
  ASSERT_EQ(left.rows, 4u);
  EXPECT_EQ(merge.sizes()[3], 3.0f);
  for (size_t c = 0; c < 3; ++c)
    EXPECT_NEAR(left(3, c), (before(0, c) + before(2, c) + before(5, c)) / 3.0f, 1e-6);
}

TEST(TokenMerge, NeverTouchesThePrefix) {
  for (const size_t prefix : {1, 2, 5}) {
    const Matrix keys = grouped_keys(std::vector<size_t>(12, 0));  // all alike
    Matrix tokens = test::random_matrix(12, 3, 1);
    const Matrix before = test::random_matrix(12, 3, 1);
    TokenMerge merge(100, prefix);
    merge.start(12);
    const MatrixView left = merge.merge(keys, 1, tokens, active_isa());
    EXPECT_EQ(left.rows, 12 - (12 - prefix) / 2);
    for (size_t t = 0; t < prefix; ++t) {
      EXPECT_EQ(merge.sizes()[t], 1.0f);
      for (size_t c = 0; c < 3; ++c) EXPECT_EQ(left(t, c), before(t, c));
    }
  }
}

TEST(TokenMerge, KeepsTheTotalOverManyLayersAndKnowsEverySource) {
  TokenMerge merge(8, 1);
  merge.start(197);
  Matrix tokens = test::random_matrix(197, 4, 1);
  MatrixView left = tokens;
  double total_before = 0.0;
  for (size_t r = 0; r < 197; ++r) total_before += tokens(r, 2);
  for (unsigned layer = 0; layer < 12; ++layer) {
    const Matrix keys = test::random_matrix(left.rows, 12, 50 + layer);
    left = merge.merge(keys, 3, left, active_isa());
    EXPECT_EQ(left.rows, 197 - 8 * (layer + 1));
  }
  double total_after = 0.0;
  for (size_t r = 0; r < left.rows; ++r) total_after += double{left(r, 2)} * merge.sizes()[r];
  EXPECT_NEAR(total_after, total_before, 1e-3);
  std::vector<float> counted(left.rows, 0.0f);
  for (const std::uint32_t source : merge.sources()) counted.at(source) += 1.0f;
  EXPECT_TRUE(std::equal(counted.begin(), counted.end(), merge.sizes().begin()));
}

TEST(TokenMerge, LeavesTinySequencesAlone) {
  for (const size_t tokens : {1, 2}) {
    TokenMerge merge(4, 1);
    merge.start(tokens);
    Matrix x = test::random_matrix(tokens, 3, 1);
    EXPECT_EQ(merge.merge(test::random_matrix(tokens, 8, 2), 1, x, active_isa()).rows, tokens);
  }
}

}  // namespace
}  // namespace vit
