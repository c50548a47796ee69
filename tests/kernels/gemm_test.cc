#include "vit/kernels/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <thread>
#include <vector>

#include "tests/kernels/product_case.h"
#include "tests/support/random.h"
#include "vit/kernels/multiply.h"

namespace vit {
namespace {

TEST(Gemm, MultipliesStridedViewsInPlace) {
  const Matrix wide = test::random_matrix(7, 30, 1);
  const Matrix b = test::random_matrix(5, 9, 2);
  const ConstMatrixView a = wide.view().col_range(11, 5);
  Matrix c(7, 9);
  gemm(a, b, c);
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
  gemm(a, b, c, {.b = Transpose::kYes, .alpha = 2.0, .beta = 1.0});
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

void expect_product(Isa isa, const test::ProductSizes& n, const Product& product,
                    bool biased = false) {
  const test::ProductCase made(n, product);
  const Matrix &wide_c = made.wide_c, &before = made.before, &bias = made.bias;
  multiply(made.a, made.b, biased ? bias.view() : ConstMatrixView{}, made.c, product, isa);
  for (size_t i = 0; i < n.rows; ++i)
    for (size_t j = 0; j < n.columns + 4; ++j) {
      if (j < 2 || j >= n.columns + 2) {
        ASSERT_EQ(wide_c(i, j), before(i, j)) << "wrote beside its columns";
        continue;
      }
      const double added = biased ? double{bias(0, j - 2)} : 0.0;
      double expected = product.beta * before(i, j) + added;
      double magnitude = std::abs(product.beta * before(i, j)) + std::abs(added);
      for (size_t k = 0; k < n.inner; ++k) {
        const double term = product.alpha * double{made.left(i, k)} * double{made.right(k, j - 2)};
        expected += term;
        magnitude += std::abs(term);
      }
      ASSERT_NEAR(wide_c(i, j), expected, static_cast<double>(n.inner + 4) * 0x1p-24 * magnitude)
          << "row " << i << ", column " << j - 2 << " of " << n.rows << " x " << n.inner << " x "
          << n.columns;
    }
}

TEST(Multiply, EveryOrientationAndSizeOnEveryInstructionSet) {
  for (const Isa isa : available_isas())
    for (const Transpose a : {Transpose::kNo, Transpose::kYes})
      for (const Transpose b : {Transpose::kNo, Transpose::kYes})
        for (const size_t rows : {1, 6, 13, 25})
          for (const size_t inner : {1, 17, 300})
            for (const size_t columns : {1, 16, 31, 64})
              expect_product(isa, {rows, inner, columns}, {.a = a, .b = b});
}

TEST(Multiply, ScalesTheProductAndWhatItIsAddedTo) {
  for (const Isa isa : available_isas())
    for (const Product& product :
         {Product{.alpha = 2.0, .beta = 1.0}, Product{.alpha = -0.5, .beta = 0.25},
          Product{.a = Transpose::kYes, .b = Transpose::kYes, .alpha = 3.0, .beta = -1.0}})
      for (const test::ProductSizes& sizes :
           {test::ProductSizes{14, 600, 40}, test::ProductSizes{7, 0, 5}})
        expect_product(isa, sizes, product);
}

TEST(Multiply, AddsTheBiasOnceToEveryRow) {
  for (const Isa isa : available_isas())
    for (const double beta : {0.0, 1.0})
      for (const test::ProductSizes& sizes :
           {test::ProductSizes{14, 600, 37}, test::ProductSizes{3, 20, 64},
            test::ProductSizes{5, 0, 7}})
        expect_product(isa, sizes, {.b = Transpose::kYes, .beta = beta}, true);
}

TEST(Multiply, ARowIsTheSameToTheBitWhateverTheOtherRowsAre) {
  const Matrix a = test::random_matrix(29, 300, 1), b = test::random_matrix(300, 45, 2);
  for (const Isa isa : available_isas()) {
    Matrix all(29, 45), one(1, 45);
    multiply(a, b, all, {}, isa);
    for (size_t r = 0; r < a.rows(); ++r) {
      multiply(a.view().row_range(r, 1), b, one, {}, isa);
      for (size_t c = 0; c < 45; ++c) EXPECT_EQ(one(0, c), all(r, c));
    }
  }
}

TEST(Gemm, GivesTheSameInManyThreadsAtOnce) {
  // OpenBLAS hands out its work space under a lock, if it was built with one; the serial variant
  // need not be.
  const Matrix a = test::random_matrix(48, 200, 1), b = test::random_matrix(200, 64, 2);
  Matrix expected(48, 64);
  gemm(a, b, expected);
  std::atomic<size_t> wrong = 0;
  {
    std::vector<std::jthread> callers;
    for (size_t caller = 0; caller < 8; ++caller)
      callers.emplace_back([&] {
        Matrix c(48, 64);
        for (size_t round = 0; round < 2000; ++round) {
          gemm(a, b, c);
          if (!std::equal(c.data(), c.data() + c.size(), expected.data())) ++wrong;
        }
      });
  }
  EXPECT_EQ(wrong, 0u);
}

TEST(Gemm, StartsNoThread) {
  const Matrix a = test::random_matrix(64, 64, 1), b = test::random_matrix(64, 64, 2);
  Matrix c(64, 64);
  gemm(a, b, c);
  const auto threads = std::filesystem::directory_iterator("/proc/self/task");
  EXPECT_EQ(std::distance(begin(threads), end(threads)), 1)
      << "OpenBLAS has started its own; is its serial variant (Debian: libopenblas-serial-dev) "
         "there?";
}

}  // namespace
}  // namespace vit
