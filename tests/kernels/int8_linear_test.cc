#include "vit/kernels/int8_linear.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/execution.h"
#include "tests/support/random.h"
#include "tests/support/reference.h"
#include "vit/kernels/linear_internal.h"

namespace vit {
namespace {

ReadRows rows_of(const Matrix& weights) {
  return [&weights](size_t first, size_t count, float* out) {
    std::copy_n(weights.view().row(first), count * weights.cols(), out);
  };
}

/// The sums in 64 bits from the bytes themselves, scaled as the kernel scales them.
void expect_exact_sums(const Int8Linear& linear, const Matrix& x, Isa isa) {
  Matrix y(x.rows(), linear.out);
  apply(linear, {}, {x, y, {0, linear.out}}, isa);
  std::vector<std::uint8_t> bytes(linear.in);
  for (size_t r = 0; r < x.rows(); ++r) {
    const QuantizedRow row =
        isa_kernels(isa).quantize_row(x.view().row(r), bytes.data(), linear.in);
    for (size_t o = 0; o < linear.out; ++o) {
      const std::vector<std::int8_t> w = quantized_row(linear, o);
      std::int64_t sum = 0;
      for (size_t k = 0; k < linear.in; ++k) sum += (std::int64_t{bytes[k]} - row.zero) * w[k];
      const double expected = static_cast<double>(sum) * row.scale * linear.scales[o];
      // Conversion to float and two products round once each.
      ASSERT_NEAR(y(r, o), expected, 4 * 0x1p-24 * std::abs(expected))
          << to_string(isa) << " row " << r << " output " << o;
    }
  }
}

TEST(Int8Linear, KeepsWeightsToHalfAStep) {
  const Matrix weights = test::random_matrix(37, 50, 1);
  const Int8Linear linear = pack_int8(37, 50, quantizing(50, rows_of(weights)));
  for (size_t o = 0; o < 37; ++o) {
    const std::vector<std::int8_t> row = quantized_row(linear, o);
    for (size_t k = 0; k < 50; ++k) {
      EXPECT_LE(std::abs(row[k]), 63);
      EXPECT_LE(std::abs(row[k] * linear.scales[o] - weights(o, k)), 0.5001f * linear.scales[o]);
    }
  }
}

TEST(Int8Linear, WeightsThatAreNotNumbersDoNotBecomeNumbers) {
  for (const float odd : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    Matrix weights = test::random_matrix(2, 16, 1);
    weights(1, 7) = odd;
    const Int8Linear linear = pack_int8(2, 16, quantizing(16, rows_of(weights)));
    Matrix y(1, 2);
    const Matrix x = test::random_matrix(1, 16, 2);
    apply(linear, {}, {x, y, {0, 2}}, active_isa());
    EXPECT_TRUE(std::isfinite(y(0, 0)));
    EXPECT_FALSE(std::isfinite(y(0, 1)));
  }
}

TEST(Int8Linear, QuantizesARowToHalfAStepAndZeroExactly) {
  for (const Isa isa : available_isas())
    for (const size_t n : {1, 7, 8, 9, 31, 64, 193}) {
      Matrix x = test::random_matrix(1, n, 3);
      x(0, n / 2) = 0.0f;
      std::vector<std::uint8_t> bytes(n);
      const QuantizedRow row = isa_kernels(isa).quantize_row(x.data(), bytes.data(), n);
      for (size_t k = 0; k < n; ++k)
        EXPECT_NEAR(row.scale * static_cast<float>(bytes[k] - row.zero), x(0, k),
                    0.51f * row.scale + 1e-12f);
      EXPECT_EQ(bytes[n / 2], row.zero);
    }
}

TEST(Int8Linear, TheZeroOfARowIsAByteHoweverSmallOrLargeItsNumbersAre) {
  for (const Isa isa : available_isas())
    for (const float size : {1e-45f, 1e-40f, 1e-37f, 2.9e-36f, 1.0f, 1.7e38f, 3.4e38f,
                             std::numeric_limits<float>::infinity()}) {
      std::vector<float> x(37, -size);
      x[5] = size;
      std::vector<std::uint8_t> bytes(x.size());
      const QuantizedRow row = isa_kernels(isa).quantize_row(x.data(), bytes.data(), x.size());
      EXPECT_GE(row.zero, 0) << to_string(isa) << " " << size;
      EXPECT_LE(row.zero, 255) << to_string(isa) << " " << size;
    }
}

TEST(Int8Linear, SumsAreExactForEveryEdgeOfTheTile) {
  for (const Isa isa : available_isas())
    for (size_t rows = 1; rows <= 6; ++rows)
      for (const size_t out : {1, 7, 15, 16, 17, 40})
        for (const size_t in : {1, 4, 8, 9, 33}) {
          const Matrix weights = test::random_matrix(out, in, 1);
          expect_exact_sums(pack_int8(out, in, quantizing(in, rows_of(weights))),
                            test::random_matrix(rows, in, 2), isa);
        }
}

/// All weights 63 and all activations 255: the case in which sums would overflow first.
TEST(Int8Linear, TheLargestSumsDoNotOverflow) {
  Matrix weights(32, 64), x(5, 64);
  for (size_t o = 0; o < 32; ++o)
    for (size_t k = 0; k < 64; ++k) weights(o, k) = o % 2 == 0 ? 1.0f : -1.0f;
  for (size_t r = 0; r < 5; ++r)
    for (size_t k = 0; k < 64; ++k) x(r, k) = 1.0f;
  const Int8Linear linear = pack_int8(32, 64, quantizing(64, rows_of(weights)));
  for (const Isa isa : available_isas()) expect_exact_sums(linear, x, isa);
}

TEST(Int8Linear, WeightsKeepWithinWhatTheKernelsCanAdd) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Matrix weights = test::random_matrix(1, 61, seed);
    if (seed % 2 == 0)  // all large, of either sign: more than the kernels could add at 63
      for (size_t k = 0; k < 61; ++k) weights(0, k) = weights(0, k) < 0.0f ? -1.0f : 0.999f;
    const Int8Linear linear = pack_int8(1, 61, quantizing(61, rows_of(weights)));
    const std::vector<std::int8_t> row = quantized_row(linear, 0);
    const std::vector<int> wide(row.begin(), row.end());
    EXPECT_LE(largest_int8_sum<int>(wide), kLargestInt8Sum);
    EXPECT_LE(*std::ranges::max_element(wide), kLargestInt8Weight);
  }
  const std::vector<int> lanes{1, 2, 100, -7, 4, 8, 20, -5};
  EXPECT_EQ(largest_int8_sum<int>(lanes), 120);
  EXPECT_EQ(largest_int8_sum<int>(std::vector<int>{-9, 0, 1, 1, -9}), 18);
}

/// The largest that counts as safe, in every lane, above zero and below: 63 + 63 + 2.
TEST(Int8Linear, TheLargestIntegersAllowedDoNotOverflow) {
  const auto read = [](size_t row, std::int8_t* integers) {
    constexpr std::array<std::int8_t, 8> kLane{63, 63, 63, 63, 2, 0, 2, 0};
    for (size_t k = 0; k < 16; ++k)
      integers[k] = static_cast<std::int8_t>(row % 2 == 0 ? kLane[k % 8] : -kLane[k % 8]);
    return 0.5f;
  };
  Matrix x(4, 16);
  for (size_t i = 0; i < x.size(); ++i) x.data()[i] = 255.0f;
  const Int8Linear linear = pack_int8(16, 16, read);
  for (const Isa isa : available_isas()) expect_exact_sums(linear, x, isa);
}

/// The tests above include VNNI where the processor has it; this one shows where it was skipped.
TEST(Int8Linear, VnniSumsAreExact) {
  const auto isas = available_isas();
  if (std::ranges::none_of(isas, has_vnni)) GTEST_SKIP() << "this processor has no VNNI";
  const Matrix weights = test::random_matrix(40, 100, 1), x = test::random_matrix(29, 100, 2);
  const Int8Linear linear = pack_int8(40, 100, quantizing(100, rows_of(weights)));
  for (const Isa isa : isas)
    if (has_vnni(isa)) expect_exact_sums(linear, x, isa);
}

TEST(Int8Linear, ComesCloseToTheFloatLayerWithAllThatFollowsIt) {
  const Matrix weights = test::random_matrix(48, 192, 1, 0.1f), x = test::random_matrix(20, 192, 2);
  const Matrix residual = test::random_matrix(20, 48, 3);
  const std::vector<float> bias = test::random_vector(48, 4), scale = test::random_vector(48, 5);
  const Epilogue epilogue{
      .activation = Activation::kGelu, .layer_scale = scale, .residual = residual};
  Matrix exact(20, 48), rough(20, 48);
  apply(pack_linear(48, 192, rows_of(weights), bias, active_isa()), x, exact,
        test::best_execution(), epilogue);
  apply(pack_int8_linear(48, 192, quantizing(192, rows_of(weights)), bias, active_isa()), x, rough,
        test::best_execution(), epilogue);
  // Steps of 0.4/63 and 7/255, evenly spread errors of 192 products: about 0.05 in the root mean
  // square.
  double squares = 0.0;
  for (size_t i = 0; i < exact.size(); ++i)
    squares += std::pow(exact.data()[i] - rough.data()[i], 2) / static_cast<double>(exact.size());
  EXPECT_LT(std::sqrt(squares), 0.1);
  EXPECT_GT(std::sqrt(squares), 1e-4) << "it was not quantized";
}

TEST(Int8Linear, AddsToItsOwnOutputWithAndWithoutVnni) {
  constexpr size_t kRows = 29, kIn = 64;
  for (const size_t out : {size_t{16}, size_t{48}, size_t{90}, size_t{96}}) {
    const Matrix weights = test::random_matrix(out, kIn, 1), x = test::random_matrix(kRows, kIn, 2);
    const Int8Linear linear = pack_int8(out, kIn, quantizing(kIn, rows_of(weights)));
    const std::vector<float> bias = test::random_vector(out, 3),
                             scale = test::random_vector(out, 4);
    Matrix sums(kRows, out);
    apply(linear, {}, {x, sums, {0, out}}, Isa::kBaseline);

    std::vector<std::uint8_t> bytes(kRows * linear.padded_in);
    std::vector<float> scales(kRows);
    std::vector<std::int32_t> zeros(kRows);
    for (const Isa isa : available_isas()) {
      const IsaKernels& kernels = isa_kernels(isa);
      for (size_t r = 0; r < kRows; ++r) {
        const QuantizedRow row =
            kernels.quantize_row(x.view().row(r), bytes.data() + r * linear.padded_in, kIn);
        scales[r] = row.scale;
        zeros[r] = row.zero;
      }
      for (const auto run : {kernels.int8_linear, kernels.int8_linear_without_vnni}) {
        Matrix y = test::random_matrix(kRows, out, 5);
        const Matrix before = test::random_matrix(kRows, out, 5);
        const LinearCall call{x, y, {0, out}, {.layer_scale = scale, .residual = y}};
        run({.out = make_tile_output(call, bias, {0, kRows, 0, out}),
             .x = bytes.data(),
             .x_stride = linear.padded_in,
             .row_scales = scales.data(),
             .row_zeros = zeros.data(),
             .panels = linear.panels.data(),
             .inner = linear.padded_in,
             .column_scales = linear.scales.data(),
             .column_sums = linear.sums.data()});
        for (size_t r = 0; r < kRows; ++r)
          for (size_t o = 0; o < out; ++o)
            ASSERT_EQ(y(r, o), (sums(r, o) + bias[o]) * scale[o] + before(r, o))
                << to_string(isa) << ' ' << r << ' ' << o << " of " << out;
      }
    }
  }
}

TEST(Int8Linear, LeavesOutColumnsThatAreNotNeeded) {
  const Matrix weights = test::random_matrix(90, 24, 1), x = test::random_matrix(7, 24, 2);
  const Linear linear =
      pack_int8_linear(90, 24, quantizing(24, rows_of(weights)), {}, active_isa());
  Matrix all(7, 90), some(7, 90);
  apply(linear, x, all, test::best_execution());
  apply_from(linear, 50, x, some, test::best_execution());
  for (size_t r = 0; r < 7; ++r)
    for (size_t o = 0; o < 90; ++o) EXPECT_EQ(some(r, o), o >= 32 ? all(r, o) : 0.0f) << o;
}

TEST(Int8Linear, GivesTheSameBitsWhateverTheNumberOfWorkers) {
  const Matrix weights = test::random_matrix(500, 96, 1), x = test::random_matrix(250, 96, 2);
  const Linear linear =
      pack_int8_linear(500, 96, quantizing(96, rows_of(weights)), {}, active_isa());
  ThreadPool pool(3);
  Matrix serial(250, 500), shared(250, 500);
  apply(linear, x, serial, test::best_execution());
  apply(linear, x, shared, test::best_execution(&pool));
  EXPECT_EQ(0, std::memcmp(serial.data(), shared.data(), serial.size() * sizeof(float)));
}

}  // namespace
}  // namespace vit
