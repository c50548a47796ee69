#include "vit/kernels/dots.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/random.h"
#include "weights/numbers.h"

namespace vit {
namespace {

using weights::f16_of_float;
using weights::float_of_f16;

constexpr size_t kRows = 5;

std::vector<size_t> lengths() {
  std::vector<size_t> all;
  for (size_t n = 1; n <= 69; ++n) all.push_back(n);
  for (const size_t n : {192, 197, 512, 768}) all.push_back(n);
  return all;
}

/// Each of n products and n sums is off by half a unit in the last place of the terms' magnitude.
void expect_dots(ConstMatrixView x, std::span<const float> y, std::span<const float> dots) {
  for (size_t r = 0; r < x.rows; ++r) {
    double expected = 0.0, magnitude = 0.0;
    for (size_t i = 0; i < x.cols; ++i) {
      expected += double{x(r, i)} * double{y[i]};
      magnitude += std::abs(double{x(r, i)} * double{y[i]});
    }
    EXPECT_NEAR(dots[r], expected, static_cast<double>(x.cols + 1) * 0x1p-24 * magnitude);
  }
}

template <typename Check>
void on_every_isa(const Check& check) {
  for (const Isa isa : available_isas())
    for (const size_t n : lengths()) {
      SCOPED_TRACE(std::string(to_string(isa)) + ", n = " + std::to_string(n));
      check(isa, n);
    }
}

TEST(Dots, OfFloatRowsMatchTheOracle) {
  on_every_isa([](Isa isa, size_t n) {
    const Matrix wide = test::random_matrix(kRows, n + 3, 1);  // the stride is not the width
    const auto rows = wide.view().col_range(1, n);
    const auto y = test::random_vector(n, 2);
    std::vector<float> dots(kRows);
    dot_rows(rows, y, dots, isa);
    expect_dots(rows, y, dots);
  });
}

TEST(Dots, OfRowsIn16BitsMatchTheOracle) {
  on_every_isa([](Isa isa, size_t n) {
    Matrix values = test::random_matrix(kRows, n, 3, 0.01f);
    std::vector<std::uint16_t> halves(values.size());
    for (size_t i = 0; i < halves.size(); ++i) {
      if (i % 7 == 3) values.data()[i] *= 1e-4f;  // below 2^-14: numbers without a leading one
      halves[i] = f16_of_float(values.data()[i]);
      values.data()[i] = float_of_f16(halves[i]);
    }
    const auto y = test::random_vector(n, 4);
    std::vector<float> dots(kRows);
    dot_rows(ConstHalfView(halves.data(), kRows, n), y, dots, isa);
    expect_dots(values, y, dots);
  });
}

TEST(Dots, TakeEveryFiniteNumberOf16BitsAsItIs) {
  std::vector<std::uint16_t> halves;
  for (unsigned bits = 0; bits < 0x10000; ++bits)
    if ((bits & 0x7c00u) != 0x7c00u) halves.push_back(static_cast<std::uint16_t>(bits));
  const std::vector<float> one{1.0f};
  constexpr size_t kLanes = 16;  // a whole vector of any instruction set
  std::vector<float> unit(kLanes);
  unit[3] = 1.0f;
  for (const Isa isa : available_isas()) {
    std::vector<float> dots(halves.size());
    dot_rows(ConstHalfView(halves.data(), halves.size(), 1), one, dots, isa);
    for (size_t i = 0; i < halves.size(); ++i)
      ASSERT_EQ(dots[i], float_of_f16(halves[i])) << to_string(isa) << " " << halves[i];
    const size_t rows = halves.size() / kLanes;
    dots.resize(rows);
    dot_rows(ConstHalfView(halves.data(), rows, kLanes), unit, dots, isa);
    for (size_t r = 0; r < rows; ++r)
      ASSERT_EQ(dots[r], float_of_f16(halves[r * kLanes + 3])) << to_string(isa);
  }
}

}  // namespace
}  // namespace vit
