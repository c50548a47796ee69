#include "vit/kernels/linear.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/support/random.h"
#include "tests/support/reference.h"

namespace vit {
namespace {

struct Shape {
  size_t rows, in, out;
};

struct Case {
  Matrix weights, x, residual;
  std::vector<float> bias, scale;

  explicit Case(Shape s)
      : weights(test::random_matrix(s.out, s.in, 1, 0.1f)),
        x(test::random_matrix(s.rows, s.in, 2)),
        residual(test::random_matrix(s.rows, s.out, 3)),
        bias(test::random_vector(s.out, 4)),
        scale(test::random_vector(s.out, 5)) {}

  Linear packed(Isa isa) const {
    const auto read = [this](size_t first, size_t count, float* out) {
      std::memcpy(out, weights.view().row(first), count * weights.cols() * sizeof(float));
    };
    return pack_linear(weights.rows(), weights.cols(), read, bias, isa);
  }
};

/// Rounding of a chain of `in` multiply-adds, then of an activation with slope and curvature below
/// 1.2, a product and a sum.
double tolerance(const Case& c, size_t r, size_t o, double expected) {
  double magnitude = std::abs(c.bias[o]);
  for (size_t k = 0; k < c.x.cols(); ++k)
    magnitude += std::abs(double{c.x(r, k)} * c.weights(o, k));
  const double chain = static_cast<double>(c.x.cols() + 2) * 0x1p-24 * magnitude;
  return 1.2 * std::abs(c.scale[o]) * (chain + 4e-7 * magnitude) +
         4 * 0x1p-24 * (std::abs(expected) + std::abs(c.residual(r, o)));
}

void expect_matches(const Case& c, Isa isa, Activation activation, ThreadPool* pool) {
  const Linear linear = c.packed(isa);
  Matrix y(c.x.rows(), linear.out);
  apply(linear, c.x, y, {pool, isa},
        {.activation = activation, .layer_scale = c.scale, .residual = c.residual});
  const reference::Numbers product = reference::linear(c.x, c.weights, c.bias);
  for (size_t r = 0; r < y.rows(); ++r)
    for (size_t o = 0; o < y.cols(); ++o) {
      const double expected =
          reference::activate(activation, product[r * y.cols() + o]) * c.scale[o] +
          c.residual(r, o);
      ASSERT_NEAR(y(r, o), expected, tolerance(c, r, o, expected))
          << to_string(isa) << " row " << r << " column " << o << " of " << y.rows() << "x"
          << y.cols();
    }
}

TEST(Linear, MatchesTheOracleForEveryEdgeOfTheTile) {
  for (const Isa isa : available_isas())
    for (size_t rows = 1; rows <= 13; ++rows)
      for (const size_t out : {1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 48, 67})
        expect_matches(Case({rows, 5, out}), isa, Activation::kNone, nullptr);
}

TEST(Linear, MatchesTheOracleAtRealShapes) {
  for (const Isa isa : available_isas())
    for (const Shape shape :
         {Shape{197, 192, 576}, Shape{37, 768, 3072}, Shape{19, 3072, 768}, Shape{161, 1024, 48}})
      expect_matches(Case(shape), isa, Activation::kGelu, nullptr);
}

TEST(Linear, AppliesEveryActivationInTheTile) {
  for (const Isa isa : available_isas())
    for (const Activation activation :
         {Activation::kNone, Activation::kGelu, Activation::kGeluTanh, Activation::kQuickGelu,
          Activation::kRelu, Activation::kSilu})
      expect_matches(Case({8, 40, 35}), isa, activation, nullptr);
}

TEST(Linear, AddsToItsOwnOutput) {
  for (const Isa isa : available_isas()) {
    const Case c({9, 24, 37});
    const Linear linear = c.packed(isa);
    Matrix apart(9, 37), in_place = test::random_matrix(9, 37, 3);
    apply(linear, c.x, apart, {nullptr, isa}, {.residual = c.residual});
    apply(linear, c.x, in_place, {nullptr, isa}, {.residual = in_place.view()});
    for (size_t i = 0; i < apart.size(); ++i) EXPECT_EQ(apart.data()[i], in_place.data()[i]);
  }
}

TEST(Linear, ReadsAndWritesColumnRangesWithoutTouchingTheRest) {
  for (const Isa isa : available_isas()) {
    const Case c({11, 24, 37});
    const Linear linear = c.packed(isa);
    Matrix wide_x(11, 40), wide_y = test::random_matrix(11, 60, 8);
    const Matrix before = test::random_matrix(11, 60, 8);
    for (size_t r = 0; r < 11; ++r) std::copy_n(c.x.view().row(r), 24, wide_x.view().row(r) + 9);
    Matrix expected(11, 37);
    apply(linear, c.x, expected, {nullptr, isa});
    apply(linear, wide_x.view().col_range(9, 24), wide_y.view().col_range(13, 37), {nullptr, isa});
    for (size_t r = 0; r < 11; ++r)
      for (size_t o = 0; o < 60; ++o)
        EXPECT_EQ(wide_y(r, o), o >= 13 && o < 50 ? expected(r, o - 13) : before(r, o));
  }
}

TEST(Linear, LeavesOutColumnsThatAreNotNeeded) {
  constexpr size_t kRows = 110, kOut = 300;  // whole panels, and more
  ThreadPool pool(2);
  for (const Isa isa : available_isas()) {
    const Case c({kRows, 24, kOut});
    const Linear linear = c.packed(isa);
    Matrix all(kRows, kOut);
    apply(linear, c.x, all, {nullptr, isa});
    for (const size_t first : {size_t{0}, size_t{5}, size_t{16}, size_t{130}, size_t{299}})
      for (ThreadPool* workers : {static_cast<ThreadPool*>(nullptr), &pool}) {
        Matrix some(kRows, kOut);
        apply_from(linear, first, c.x, some, {workers, isa});
        for (size_t r = 0; r < kRows; ++r)
          for (size_t o = 0; o < kOut; ++o) {
            // Of the columns before `first`, only those in its panel may be computed, too.
            const bool wanted = o >= first, far = o + 32 <= first;
            const float expected = wanted || (!far && some(r, o) != 0.0f) ? all(r, o) : 0.0f;
            ASSERT_EQ(some(r, o), expected) << first << ' ' << o;
          }
      }
  }
}

TEST(Linear, GivesTheSameBitsWhateverTheNumberOfWorkers) {
  ThreadPool two(2), five(5);
  for (const Isa isa : available_isas()) {
    // Few rows, of which workers share the columns; rows for each worker; more than fit a cache.
    for (const Shape shape : {Shape{50, 96, 700}, Shape{250, 96, 700}, Shape{197, 768, 64}}) {
      const Case c(shape);
      const Linear linear = c.packed(isa);
      const auto result = [&](ThreadPool* pool) {
        Matrix y(shape.rows, shape.out);
        apply(linear, c.x, y, {pool, isa},
              {.activation = Activation::kGelu, .residual = c.residual});
        return y;
      };
      const Matrix serial = result(nullptr), with_two = result(&two), with_five = result(&five);
      EXPECT_EQ(0, std::memcmp(serial.data(), with_two.data(), serial.size() * sizeof(float)));
      EXPECT_EQ(0, std::memcmp(serial.data(), with_five.data(), serial.size() * sizeof(float)));
    }
  }
}

}  // namespace
}  // namespace vit
