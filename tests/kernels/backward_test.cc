// The slopes of the row-wise kernels against central differences of their double-precision oracle.
#include "vit/kernels/isa_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/random.h"
#include "tests/support/reference.h"

namespace vit {
namespace {

const std::vector<size_t> kLengths{1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65, 192, 197};

template <typename Check>
void on_every_isa(const Check& check) {
  for (const Isa isa : available_isas())
    for (const size_t n : kLengths) {
      SCOPED_TRACE(std::string(to_string(isa)) + ", n = " + std::to_string(n));
      check(isa_kernels(isa).backward, n);
    }
}

TEST(Backward, SlopesOfActivationsMatchTheOracle) {
  using enum Activation;
  on_every_isa([](const BackwardKernels& kernels, size_t n) {
    const std::vector<float> x = test::random_vector(n, 1, 2.0f), dy = test::random_vector(n, 2);
    for (const Activation kind : {kNone, kGelu, kGeluTanh, kQuickGelu, kRelu, kSilu}) {
      std::vector<float> dx(n);
      kernels.activation(kind, x.data(), dy.data(), dx.data(), n);
      constexpr double kStep = 1e-6;
      for (size_t i = 0; i < n; ++i) {
        const double slope =
            (reference::activate(kind, x[i] + kStep) - reference::activate(kind, x[i] - kStep)) /
            (2.0 * kStep);
        EXPECT_NEAR(dx[i], slope * dy[i], 2e-6 * (1.0 + std::abs(dy[i]))) << to_string(kind);
      }
    }
  });
}

TEST(Backward, SoftmaxMatchesItsJacobian) {
  on_every_isa([](const BackwardKernels& kernels, size_t n) {
    const Matrix scores = test::random_matrix(1, n, 3);
    const auto wide = reference::softmax(scores, 2.0);
    const std::vector<float> p(wide.begin(), wide.end()), dp = test::random_vector(n, 4);
    std::vector<float> ds(n);
    kernels.softmax(p.data(), dp.data(), 0.5f, ds.data(), n);
    for (size_t i = 0; i < n; ++i) {
      double expected = 0.0;
      for (size_t j = 0; j < n; ++j)
        expected += 0.5 * dp[j] * wide[j] * ((i == j ? 1.0 : 0.0) - wide[i]);
      EXPECT_NEAR(ds[i], expected, 1e-6);
    }
  });
}

/// sum(dy · norm(x)) as a function of x[i] and gamma[i].
double weighted(const Norm& norm, const std::vector<float>& x, const std::vector<float>& dy,
                double eps) {
  const auto n = static_cast<double>(x.size());
  double mean = 0.0, squares = 0.0, sum = 0.0;
  if (norm.kind == NormKind::kLayerNorm)
    for (const float value : x) mean += value / n;
  for (const float value : x) squares += (value - mean) * (value - mean) / n;
  for (size_t i = 0; i < x.size(); ++i)
    sum += dy[i] * norm.weight[i] * (x[i] - mean) / std::sqrt(squares + eps);
  return sum;
}

void check_norm(const BackwardKernels& kernels, NormKind kind, size_t n) {
  if (n < 3) return;  // a row of one or two is all mean: its slope is eps alone
  constexpr float kEps = 1e-3f;
  const Norm norm{.kind = kind, .eps = kEps, .weight = test::random_vector(n, 5), .bias = {}};
  std::vector<float> x = test::random_vector(n, 6), dgamma(n, 1.0f), dbeta(n, 1.0f), dx(n);
  const std::vector<float> dy = test::random_vector(n, 7);
  const NormBackwardRow row{x.data(), norm.weight.data(), dy.data(),     kEps,
                            n,        dx.data(),          dgamma.data(), dbeta.data()};
  kind == NormKind::kLayerNorm ? kernels.layer_norm(row) : kernels.rms_norm(row);
  for (size_t i = 0; i < n; ++i) {
    const float before = x[i], step = 1.0f / 256.0f;
    x[i] = before + step;
    const double above = weighted(norm, x, dy, kEps), high = x[i];
    x[i] = before - step;
    const double below = weighted(norm, x, dy, kEps), low = x[i];
    x[i] = before;
    EXPECT_NEAR(dx[i], (above - below) / (high - low), 2e-3 * (1.0 + std::abs(dx[i])));
    EXPECT_NEAR(dbeta[i], 1.0 + dy[i], 1e-6);
  }
  double by_gamma = 0.0;  // the sum is linear in gamma
  for (size_t i = 0; i < n; ++i) by_gamma += norm.weight[i] * (dgamma[i] - 1.0);
  EXPECT_NEAR(by_gamma, weighted(norm, x, dy, kEps), 1e-4 * std::sqrt(static_cast<double>(n)));
}

TEST(Backward, NormsMatchCentralDifferences) {
  on_every_isa([](const BackwardKernels& kernels, size_t n) {
    check_norm(kernels, NormKind::kLayerNorm, n);
    check_norm(kernels, NormKind::kRmsNorm, n);
  });
}

}  // namespace
}  // namespace vit
