#include "vit/kernels/rowwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/execution.h"
#include "tests/support/random.h"
#include "tests/support/reference.h"
#include "vit/kernels/isa_kernels.h"

namespace vit {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr Activation kActivations[] = {Activation::kNone,     Activation::kGelu,
                                       Activation::kGeluTanh, Activation::kQuickGelu,
                                       Activation::kRelu,     Activation::kSilu};

/// 1 to twice the widest vector and one more, then the real widths.
std::vector<size_t> row_lengths() {
  std::vector<size_t> lengths;
  for (size_t n = 1; n <= 33; ++n) lengths.push_back(n);
  for (const size_t n : {192, 197, 384, 768, 1024, 3072}) lengths.push_back(n);
  return lengths;
}

/// Calls check(kernels, n) for every instruction set and length.
template <typename Check>
void on_every_isa(const Check& check) {
  for (const Isa isa : available_isas())
    for (const size_t n : row_lengths()) {
      SCOPED_TRACE(std::string(to_string(isa)) + ", n = " + std::to_string(n));
      check(isa_kernels(isa), n);
    }
}

Norm random_norm(NormKind kind, size_t n) {
  Norm norm{.kind = kind, .eps = 1e-6f, .weight = test::random_vector(n, 11), .bias = {}};
  if (kind == NormKind::kLayerNorm) norm.bias = test::random_vector(n, 12);
  return norm;
}

/// |y| <= |gamma|·sqrt(n)·… in the worst case, but each term is off by n roundings of its
/// statistics.
double norm_tolerance(size_t n, double expected, double gamma, double mean_over_spread) {
  return static_cast<double>(n + 8) * 0x1p-24 *
         (std::abs(expected) + std::abs(gamma) * (1.0 + mean_over_spread));
}

TEST(Rowwise, LayerNormMatchesTheOracle) {
  on_every_isa([](const IsaKernels& kernels, size_t n) {
    const Matrix x = test::random_matrix(1, n, 1, 3.0f);
    const Norm norm = random_norm(NormKind::kLayerNorm, n);
    std::vector<float> y(n);
    kernels.layer_norm_row(x.data(), norm.weight.data(), norm.bias.data(), norm.eps, y.data(), n);
    const reference::Numbers expected = reference::normalize(norm, x);
    for (size_t i = 0; i < n; ++i) {
      // A row of one is its own mean: 0/sqrt(eps), and rounding of the mean is magnified by it.
      const double spread = n == 1 ? 1e3 : 1.0;
      EXPECT_NEAR(y[i], expected[i],
                  norm_tolerance(n, expected[i], norm.weight[i], 3.0 * spread) +
                      0x1p-23 * std::abs(norm.bias[i]));
    }
  });
}

/// Pairs (a, b) become (a·cos - b·sin, b·cos + a·sin), of neighbours or of halves.
TEST(Rowwise, RotatesPairsByTheirAngles) {
  for (const Isa isa : available_isas())
    for (const bool halves : {false, true})
      for (const size_t d : {4, 8, 12, 20, 48, 64, 72, 96}) {
        SCOPED_TRACE(std::string(to_string(isa)) + ", d = " + std::to_string(d));
        constexpr size_t kRows = 5, kHeads = 3;
        const std::vector<float> angles = test::random_vector(kRows * d / 2, 3);
        Matrix cosines(kRows, halves ? d / 2 : d), sines(kRows, halves ? d / 2 : d);
        for (size_t i = 0; i < angles.size(); ++i) {
          const size_t row = i / (d / 2), m = i % (d / 2);
          const float c = std::cos(angles[i]), s = std::sin(angles[i]);
          if (halves) {
            cosines(row, m) = c;
            sines(row, m) = s;
          } else {
            cosines(row, 2 * m) = cosines(row, 2 * m + 1) = c;
            sines(row, 2 * m) = -s;
            sines(row, 2 * m + 1) = s;
          }
        }
        const Matrix x = test::random_matrix(kRows, kHeads * d, 4);
        Matrix y = copy_of(x);
        rotate({.cosines = cosines, .sines = sines, .split_halves = halves}, d, y, {nullptr, isa});
        for (size_t r = 0; r < kRows; ++r)
          for (size_t h = 0; h < kHeads; ++h)
            for (size_t m = 0; m < d / 2; ++m) {
              const size_t first = h * d + (halves ? m : 2 * m);
              const size_t second = first + (halves ? d / 2 : 1);
              const double angle = angles[r * d / 2 + m], a = x(r, first), b = x(r, second);
              const double tolerance = 4 * 0x1p-23 * (std::abs(a) + std::abs(b));
              EXPECT_NEAR(y(r, first), a * std::cos(angle) - b * std::sin(angle), tolerance);
              EXPECT_NEAR(y(r, second), b * std::cos(angle) + a * std::sin(angle), tolerance);
            }
      }
}

TEST(Rowwise, LayerNormKeepsItsDigitsFarFromZero) {
  on_every_isa([](const IsaKernels& kernels, size_t n) {
    if (n < 8) return;
    Matrix x = test::random_matrix(1, n, 1);
    for (size_t i = 0; i < n; ++i) x(0, i) += 1000.0f;
    const Norm norm = random_norm(NormKind::kLayerNorm, n);
    std::vector<float> y(n);
    kernels.layer_norm_row(x.data(), norm.weight.data(), norm.bias.data(), norm.eps, y.data(), n);
    const reference::Numbers expected = reference::normalize(norm, x);
    // The mean itself is only known to 1000·n·2^-24.
    for (size_t i = 0; i < n; ++i)
      EXPECT_NEAR(y[i], expected[i], norm_tolerance(n, expected[i], norm.weight[i], 2000.0));
  });
}

TEST(Rowwise, RmsNormMatchesTheOracle) {
  on_every_isa([](const IsaKernels& kernels, size_t n) {
    const Matrix x = test::random_matrix(1, n, 1, 3.0f);
    const Norm norm = random_norm(NormKind::kRmsNorm, n);
    std::vector<float> y(n);
    kernels.rms_norm_row(x.data(), norm.weight.data(), norm.eps, y.data(), n);
    const reference::Numbers expected = reference::normalize(norm, x);
    for (size_t i = 0; i < n; ++i)
      EXPECT_NEAR(y[i], expected[i], norm_tolerance(n, expected[i], norm.weight[i], 0.0));
  });
}

/// The stated bounds of vector.inl: 2e-7 on the normal distribution function, 3e-7 relative on exp
/// (which a sigmoid at most passes on), times |x|; and a few roundings.
TEST(Rowwise, ActivationsKeepTheirStatedErrorBound) {
  for (const Isa isa : available_isas())
    for (const Activation activation : kActivations)
      for (float x = -30.0f; x <= 30.0f; x += 0.00371f) {
        float y = 0.0f;
        isa_kernels(isa).activation_row(activation, &x, &y, 1);
        // The argument of exp carries a rounding of its own size into the exponent.
        const double bound = std::abs(x) * (5e-7 + 0x1p-24 * std::min(4.0, std::abs(double{x})));
        ASSERT_NEAR(y, reference::activate(activation, x), bound)
            << to_string(isa) << " " << to_string(activation) << " of " << x;
      }
}

/// As stated in vector.inl, where there is an instruction that picks one of eight numbers.
TEST(Rowwise, GeluInPartsKeepsItsOwnBound) {
  std::vector<float> x, y;
  for (float at = -9.0f; at <= 9.0f; at += 0.000371f) x.push_back(at);
  y.resize(x.size());
  for (const Isa isa : available_isas()) {
    if (isa < Isa::kAvx2) continue;
    isa_kernels(isa).activation_row(Activation::kGelu, x.data(), y.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const double bound = std::abs(x[i]) <= 5.5f ? 3e-7 : 1.1e-7 + std::abs(x[i]) * 0x1p-24;
      ASSERT_NEAR(y[i], reference::activate(Activation::kGelu, x[i]), bound) << x[i];
    }
  }
}

TEST(Rowwise, ActivationsHandleEveryLengthAndTheirEnds) {
  on_every_isa([](const IsaKernels& kernels, size_t n) {
    for (const Activation activation : kActivations) {
      const std::vector<float> x = test::random_vector(n, 7, 4.0f);
      std::vector<float> y(n + 1, 77.0f);
      kernels.activation_row(activation, x.data(), y.data(), n);
      for (size_t i = 0; i < n; ++i)
        EXPECT_NEAR(y[i], reference::activate(activation, x[i]), 1e-6 * std::abs(x[i]));
      EXPECT_EQ(y[n], 77.0f) << "wrote past the end";
    }
  });
}

TEST(Rowwise, GateMultipliesTheActivatedGateWithTheValue) {
  on_every_isa([](const IsaKernels& kernels, size_t n) {
    const std::vector<float> g = test::random_vector(n, 7), v = test::random_vector(n, 8);
    std::vector<float> y(n);
    kernels.gate_row(Activation::kSilu, g.data(), v.data(), y.data(), n);
    for (size_t i = 0; i < n; ++i)
      EXPECT_NEAR(y[i], reference::activate(Activation::kSilu, g[i]) * v[i],
                  1e-6 * std::abs(g[i] * v[i]));
  });
}

TEST(Rowwise, ResidualIsAddedWithAndWithoutLayerScale) {
  on_every_isa([](const IsaKernels& kernels, size_t n) {
    const std::vector<float> update = test::random_vector(n, 1), scale = test::random_vector(n, 2);
    const std::vector<float> before = test::random_vector(n, 3);
    std::vector<float> plain = before, scaled = before;
    kernels.add_row(update.data(), nullptr, plain.data(), n);
    kernels.add_row(update.data(), scale.data(), scaled.data(), n);
    for (size_t i = 0; i < n; ++i) {
      EXPECT_EQ(plain[i], before[i] + update[i]);
      EXPECT_NEAR(scaled[i], double{before[i]} + double{update[i]} * scale[i],
                  0x1p-23 * (std::abs(before[i]) + std::abs(update[i] * scale[i])));
    }
  });
}

TEST(Rowwise, ExponentialsMatchTheOracleAndReturnTheirSum) {
  on_every_isa([](const IsaKernels& kernels, size_t n) {
    Matrix x = test::random_matrix(1, n, 5, 8.0f);
    const float scale = 0.7f;
    const reference::Numbers expected = reference::softmax(x, 1.0 / double{scale});
    const float sum = kernels.exp_row(x.data(), n, scale);
    for (size_t i = 0; i < n; ++i)
      // 2e-7 of exp2 twice, the rounding of an argument of at most 60, and n additions of the sum.
      EXPECT_NEAR(x(0, i) / sum, expected[i],
                  expected[i] * (6e-7 + 60 * 0x1p-23 + static_cast<double>(n) * 0x1p-24) + 1e-38);
  });
}

/// The stated bound of exp2, 2e-7, over all its range (beside a 0, so that the number itself is the
/// exponent), and the rounding of the exponent.
TEST(Rowwise, ExponentialsKeepTheirStatedErrorBound) {
  for (const Isa isa : available_isas()) {
    for (float x = -87.0f; x <= 0.0f; x += 0.00173f) {
      float pair[2] = {x, 0.0f};
      isa_kernels(isa).exp_row(pair, 2, 1.0f);
      const double expected = std::exp(double{x});
      ASSERT_NEAR(pair[0], expected, expected * (2e-7 - double{x} * 0x1p-23))
          << to_string(isa) << " of " << x;
    }
    float ends[4] = {0.0f, -200.0f, -3e38f, -kInfinity};
    EXPECT_EQ(isa_kernels(isa).exp_row(ends, 4, 1.0f), 1.0f);
    for (size_t i = 1; i < 4; ++i) EXPECT_EQ(ends[i], 0.0f);
    float broken[2] = {0.0f, std::nanf("")};
    EXPECT_TRUE(std::isnan(isa_kernels(isa).exp_row(broken, 2, 1.0f))) << to_string(isa);
  }
}

TEST(Softmax, RowsSumToOneAndTemperatureFlattens) {
  Matrix cold = test::random_matrix(5, 19, 9), hot = test::random_matrix(5, 19, 9);
  softmax(cold, 0.5f, test::best_execution());
  softmax(hot, 4.0f, test::best_execution());
  for (size_t r = 0; r < 5; ++r) {
    double cold_sum = 0.0, hot_sum = 0.0;
    float cold_top = 0.0f, hot_top = 0.0f;
    for (size_t c = 0; c < 19; ++c) {
      cold_sum += cold(r, c);
      hot_sum += hot(r, c);
      cold_top = std::max(cold_top, cold(r, c));
      hot_top = std::max(hot_top, hot(r, c));
    }
    EXPECT_NEAR(cold_sum, 1.0, 20 * 0x1p-24);
    EXPECT_NEAR(hot_sum, 1.0, 20 * 0x1p-24);
    EXPECT_GT(cold_top, hot_top);
  }
}

TEST(Softmax, SurvivesHugeAndMaskedEntries) {
  Matrix x(3, 4);
  const float rows[3][4] = {{3e38f, 3e38f, -3e38f, 0.0f},
                            {-kInfinity, 1.0f, -kInfinity, 1.0f},
                            {-kInfinity, -kInfinity, -kInfinity, -kInfinity}};
  for (size_t r = 0; r < 3; ++r)
    for (size_t c = 0; c < 4; ++c) x(r, c) = rows[r][c];
  softmax(x, 1.0f, test::best_execution());
  const float expected[3][4] = {
      {0.5f, 0.5f, 0.0f, 0.0f}, {0.0f, 0.5f, 0.0f, 0.5f}, {0.0f, 0.0f, 0.0f, 0.0f}};
  for (size_t r = 0; r < 3; ++r)
    for (size_t c = 0; c < 4; ++c) EXPECT_FLOAT_EQ(x(r, c), expected[r][c]) << r << "," << c;
}

TEST(Norm, GroupsAreNormalisedEachByItself) {
  Matrix x = test::random_matrix(6, 12, 4), expected = test::random_matrix(6, 12, 4);
  const Norm norm = random_norm(NormKind::kRmsNorm, 4);
  normalize_groups(norm, x, test::best_execution());
  for (size_t group = 0; group < 3; ++group)
    normalize(norm, expected.view().col_range(4 * group, 4),
              expected.view().col_range(4 * group, 4), test::best_execution());
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x.data()[i], expected.data()[i]);
}

}  // namespace
}  // namespace vit
