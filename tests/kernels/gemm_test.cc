#include "vit/kernels/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/random.h"

namespace vit {
namespace {

TEST(Gemm, MultipliesStridedViewsInPlace) {
  const Matrix wide = test::random_matrix(7, 30, 1);
  const Matrix b = test::random_matrix(5, 9, 2);
  const ConstMatrixView a = wide.view().col_range(11, 5);
  Matrix c(7, 9);
  gemm(a, b, Transpose::kNo, c);
  for (size_t i = 0; i < 7; ++i)
    for (size_t j = 0; j < 9; ++j) {
      double expected = 0.0, magnitude = 0.0;
      for (size_t k = 0; k < 5; ++k) {
        expected += double{a(i, k)} * b(k, j);
        magnitude += std::abs(double{a(i, k)} * b(k, j));
      }
      EXPECT_NEAR(c(i, j), expected, 6 * 0x1p-24 * magnitude);
    }
}

TEST(Gemm, TransposesAndAccumulates) {
  const Matrix a = test::random_matrix(4, 6, 3), b = test::random_matrix(3, 6, 4);
  Matrix c = test::random_matrix(4, 3, 5);
  const Matrix before = test::random_matrix(4, 3, 5);
  gemm(a, b, Transpose::kYes, c, 2.0f, 1.0f);
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 3; ++j) {
      double expected = before(i, j), magnitude = std::abs(before(i, j));
      for (size_t k = 0; k < 6; ++k) {
        expected += 2.0 * double{a(i, k)} * b(j, k);
        magnitude += std::abs(2.0 * double{a(i, k)} * b(j, k));
      }
      EXPECT_NEAR(c(i, j), expected, 9 * 0x1p-24 * magnitude);
    }
}

/// Sizes a [4, 6] · b [6, 3] = c [4, 3], stored turned or not.
TEST(Gemm, TurnsEitherSideInBothPrecisions) {
  const Matrix a = test::random_matrix(4, 6, 1), a_turned = test::random_matrix(6, 4, 2);
  const Matrix b = test::random_matrix(6, 3, 3), b_turned = test::random_matrix(3, 6, 4);
  for (const Transpose turn_a : {Transpose::kNo, Transpose::kYes})
    for (const Transpose turn_b : {Transpose::kNo, Transpose::kYes}) {
      const Matrix& left = turn_a == Transpose::kYes ? a_turned : a;
      const Matrix& right = turn_b == Transpose::kYes ? b_turned : b;
      const std::vector<double> wide_left(left.data(), left.data() + left.size());
      const std::vector<double> wide_right(right.data(), right.data() + right.size());
      Matrix c(4, 3);
      std::vector<double> wide(12, 1.0);
      gemm(left, right, c, {.a = turn_a, .b = turn_b});
      gemm({wide_left.data(), left.rows(), left.cols()},
           {wide_right.data(), right.rows(), right.cols()}, {wide.data(), 4, 3},
           {.a = turn_a, .b = turn_b, .alpha = 3.0, .beta = 2.0});
      for (size_t i = 0; i < 4; ++i)
        for (size_t j = 0; j < 3; ++j) {
          double expected = 0.0;
          for (size_t k = 0; k < 6; ++k)
            expected += double{turn_a == Transpose::kYes ? left(k, i) : left(i, k)} *
                        double{turn_b == Transpose::kYes ? right(j, k) : right(k, j)};
          EXPECT_NEAR(c(i, j), expected, 1e-5);
          EXPECT_NEAR(wide[i * 3 + j], 3.0 * expected + 2.0, 1e-12);
        }
    }
}

}  // namespace
}  // namespace vit
