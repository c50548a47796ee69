/// Products of numbers rounded to bfloat16, with and without AMX, against a double oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "tests/kernels/product_case.h"
#include "tests/support/random.h"
#include "vit/kernels/isa_kernels.h"
#include "vit/kernels/multiply.h"
#include "vit/kernels/multiply_call.h"

namespace vit {
namespace {

/// To the nearest number with 8 significant bits, of two the even one.
double round_to_bf16(float x) {
  auto bits = std::bit_cast<std::uint32_t>(x);
  bits += 0x7FFFu + ((bits >> 16) & 1u);
  return std::bit_cast<float>(bits & 0xFFFF0000u);
}

/// multiply(), or the kernel without AMX.
void multiply_on(bool amx, ConstMatrixView a, ConstMatrixView b, ConstMatrixView bias, MatrixView c,
                 const Product& product) {
  if (amx) return multiply(a, b, bias, c, product, active_isa());
  Matrix scratch(kBf16Rows + c.cols + 16, kBf16Inner);
  MultiplyCall call = multiply_call(a, b, bias, c, product);
  call.panel = scratch.data();
  isa_kernels(active_isa()).multiply_bf16_without_amx(call);
}

/// Products of two rounded numbers are exact in a float, so what remains is the rounding of
/// inner + 4 sums. Without rounding the inputs first, each is off by 2^-8 of itself at most.
void expect_product(bool amx, const test::ProductSizes& n, Product product, bool biased = false) {
  product.operands = Operands::kBf16;
  const test::ProductCase made(n, product);
  const Matrix &wide_c = made.wide_c, &before = made.before, &bias = made.bias;
  multiply_on(amx, made.a, made.b, biased ? bias.view() : ConstMatrixView{}, made.c, product);
  for (size_t i = 0; i < n.rows; ++i)
    for (size_t j = 0; j < n.columns + 4; ++j) {
      if (j < 2 || j >= n.columns + 2) {
        ASSERT_EQ(wide_c(i, j), before(i, j)) << "wrote beside its columns";
        continue;
      }
      const double start = product.beta * before(i, j) + (biased ? double{bias(0, j - 2)} : 0.0);
      double expected = start, exact = start, magnitude = std::abs(product.beta * before(i, j)) + 1;
      for (size_t k = 0; k < n.inner; ++k) {
        const float x = made.left(i, k), y = made.right(k, j - 2);
        expected += product.alpha * round_to_bf16(x) * round_to_bf16(y);
        exact += product.alpha * double{x} * double{y};
        magnitude += std::abs(product.alpha * double{x} * double{y});
      }
      const double sums = static_cast<double>(n.inner + 4) * 0x1p-24 * magnitude;
      ASSERT_NEAR(wide_c(i, j), expected, sums)
          << "row " << i << ", column " << j - 2 << " of " << n.rows << " x " << n.inner << " x "
          << n.columns << (amx ? "" : " without AMX");
      ASSERT_NEAR(wide_c(i, j), exact, sums + (2 * 0x1p-8 + 0x1p-16) * magnitude);
    }
}

class Bf16 : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    const IsaKernels& kernels = isa_kernels(active_isa());
    if (kernels.multiply_bf16 == nullptr) GTEST_SKIP() << "no BF16 instructions";
    if (GetParam() && kernels.multiply_bf16 == kernels.multiply_bf16_without_amx)
      GTEST_SKIP() << "no AMX";
  }
};

TEST_P(Bf16, EveryOrientationAndSize) {
  for (const Transpose a : {Transpose::kNo, Transpose::kYes})
    for (const Transpose b : {Transpose::kNo, Transpose::kYes})
      for (const size_t rows : {1, 16, 33, 64})
        for (const size_t inner : {1, 31, 32, 600})
          for (const size_t columns : {1, 16, 37, 64})
            expect_product(GetParam(), {rows, inner, columns}, {.a = a, .b = b});
}

TEST_P(Bf16, MoreRowsThanArePackedAtOnce) {
  expect_product(GetParam(), {2 * kBf16Rows + 5, 40, 18}, {.b = Transpose::kYes});
}

TEST_P(Bf16, ScalesAndAddsBiasOnce) {
  for (const double beta : {0.0, 1.0, -0.25})
    for (const double alpha : {1.0, 2.0})
      for (const bool biased : {false, true})
        for (const test::ProductSizes& sizes :
             {test::ProductSizes{14, 600, 40}, {64, 1030, 64}, {7, 3, 5}})
          expect_product(GetParam(), sizes, {.alpha = alpha, .beta = beta}, biased);
}

TEST_P(Bf16, ARowIsTheSameToTheBitWhateverTheOtherRowsAre) {
  const Matrix a = test::random_matrix(45, 300, 1), b = test::random_matrix(300, 45, 2);
  const Matrix bias = test::random_matrix(1, 45, 3);
  for (const double beta : {0.0, 1.0})
    for (const ConstMatrixView added : {ConstMatrixView{}, bias.view()}) {
      Matrix all = test::random_matrix(45, 45, 4);
      const Matrix before = test::random_matrix(45, 45, 4);
      const Product product{.beta = beta, .operands = Operands::kBf16};
      multiply_on(GetParam(), a, b, added, all, product);
      for (size_t r = 0; r < a.rows(); ++r) {
        Matrix one(1, 45);
        std::copy_n(before.view().row(r), 45, one.data());
        multiply_on(GetParam(), a.view().row_range(r, 1), b, added, one, product);
        for (size_t c = 0; c < 45; ++c) EXPECT_EQ(one(0, c), all(r, c));
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Bf16, testing::Bool(), [](const auto& amx) {
  return amx.param ? std::string("Amx") : std::string("Vectors");
});

}  // namespace
}  // namespace vit
