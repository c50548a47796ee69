#include "vit/train/muon.h"

#include <algorithm>
#include <cmath>

#include "vit/kernels/multiply.h"

namespace vit::train {
namespace {

/// The polynomial a·x + b·x³ + c·x⁵ that Muon's authors found to lift small values fastest.
constexpr double kLinear = 3.4445;
constexpr double kCubic = -4.7750;
constexpr double kQuintic = 2.0315;
constexpr int kIterations = 5;

/// Brings the size of an orthogonal update to that of AdamW, whose rates it then shares (Liu et
/// al. 2025).
double like_adam(const Group& group) {
  return 0.2 * std::sqrt(static_cast<double>(std::max(group.rows, group.cols)));
}

void scale_to_unit_norm(MatrixView x) {
  double sum = 0.0;
  for (size_t r = 0; r < x.rows; ++r)
    for (size_t c = 0; c < x.cols; ++c) sum += double{x(r, c)} * double{x(r, c)};
  const auto factor = static_cast<float>(1.0 / (std::sqrt(sum) + 1e-12));
  for (size_t r = 0; r < x.rows; ++r)
    for (size_t c = 0; c < x.cols; ++c) x(r, c) *= factor;
}

}  // namespace

void orthogonalize(MatrixView matrix, Operands operands) {
  // The smaller side is squared: wide matrices from the left, tall ones from the right.
  const bool tall = matrix.rows > matrix.cols;
  const Isa isa = active_isa();
  const size_t side = std::min(matrix.rows, matrix.cols);
  Matrix square(side, side), polynomial(side, side), next(matrix.rows, matrix.cols);
  scale_to_unit_norm(matrix);
  for (int i = 0; i < kIterations; ++i) {
    multiply(matrix, matrix, square,
             {.a = tall ? Transpose::kYes : Transpose::kNo,
              .b = tall ? Transpose::kNo : Transpose::kYes,
              .operands = operands},
             isa);
    std::copy_n(square.data(), square.size(), polynomial.data());
    multiply(square, square, polynomial, {.alpha = kQuintic, .beta = kCubic, .operands = operands},
             isa);
    for (size_t r = 0; r < side; ++r) polynomial(r, r) += static_cast<float>(kLinear);
    if (tall)
      multiply(matrix, polynomial, next, {.operands = operands}, isa);
    else
      multiply(polynomial, matrix, next, {.operands = operands}, isa);
    for (size_t r = 0; r < matrix.rows; ++r)
      std::copy_n(next.view().row(r), matrix.cols, matrix.row(r));
  }
}

void muon_step(const Muon& muon, const Group& group, const Update& update, Moments& moments,
               std::span<float> numbers) {
  const auto mu = static_cast<float>(muon.momentum);
  const auto scale = static_cast<float>(update.gradient_scale);
  const float* gradient = update.gradient.data() + group.offset;
  float* m = moments.first.data() + group.offset;
  float* x = numbers.data() + group.offset;
  Matrix direction(group.rows, group.cols);
  for (size_t r = 0; r < group.rows; ++r) {
    float* d = direction.view().row(r);
    for (size_t c = 0; c < group.cols; ++c) {
      const size_t i = r * group.cols + c;
      const float g = gradient[i] * scale;
      m[i] = mu * m[i] + (1.0f - mu) * g;
      d[c] = mu * m[i] + (1.0f - mu) * g;  // Nesterov: one step ahead
    }
  }
  orthogonalize(direction, muon.operands);
  const double rate = update.rate * group.rate;
  const auto keep = static_cast<float>(1.0 - (group.decays ? rate * muon.weight_decay : 0.0));
  const auto pull = static_cast<float>(rate * like_adam(group));
  for (size_t r = 0; r < group.rows; ++r) {
    const float* d = direction.view().row(r);
    for (size_t c = 0; c < group.cols; ++c) {
      const size_t i = r * group.cols + c;
      x[i] = keep * x[i] - pull * d[c];
    }
  }
}

}  // namespace vit::train
