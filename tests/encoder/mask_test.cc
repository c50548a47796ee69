#include "vit/encoder/mask.h"

#include <gtest/gtest.h>

#include <limits>

namespace vit {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

TEST(Mask, CausalHidesTheFuture) {
  const Matrix mask = causal_mask(4);
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 4; ++j) EXPECT_EQ(mask(i, j), j <= i ? 0.0f : kHidden);
}

TEST(Mask, PaddingHidesTheKeysBeyondTheValidOnes) {
  EXPECT_EQ(padding_mask(4, 2), (std::vector<float>{0, 0, kHidden, kHidden}));
  EXPECT_EQ(padding_mask(2, 5), (std::vector<float>{0, 0}));
}

TEST(Mask, BlockDiagonalKeepsPackedSequencesApart) {
  const std::vector<size_t> lengths{2, 3};
  const Matrix mask = block_diagonal_mask(lengths);
  ASSERT_EQ(mask.rows(), 5u);
  for (size_t i = 0; i < 5; ++i)
    for (size_t j = 0; j < 5; ++j) EXPECT_EQ(mask(i, j), (i < 2) == (j < 2) ? 0.0f : kHidden);
}

}  // namespace
}  // namespace vit
