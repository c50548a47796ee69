#include "vit/kernels/gemm.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace vit
