/// Limited-memory BFGS for smooth convex functions (Nocedal 1980).
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <vector>

namespace vit::train {

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The last steps and what they did to the gradient: an approximate inverse Hessian.
class Curvature {
 public:
  void add(std::vector<double> step, std::vector<double> change) {
    constexpr size_t kRemembered = 10;
    const double product = dot(step, change);
    if (product <= 1e-12 * dot(change, change)) return;
    pairs_.push_back({std::move(step), std::move(change), product});
    if (pairs_.size() > kRemembered) pairs_.pop_front();
  }

  /// The two-loop recursion.
  std::vector<double> solve(std::vector<double> gradient) const {
    std::vector<double> factors(pairs_.size());
    for (size_t i = pairs_.size(); i-- > 0;) {
      factors[i] = dot(pairs_[i].step, gradient) / pairs_[i].product;
      for (size_t k = 0; k < gradient.size(); ++k) gradient[k] -= factors[i] * pairs_[i].change[k];
    }
    if (!pairs_.empty()) {
      const double scale = pairs_.back().product / dot(pairs_.back().change, pairs_.back().change);
      for (double& g : gradient) g *= scale;
    }
    for (size_t i = 0; i < pairs_.size(); ++i) {
      const double beta = dot(pairs_[i].change, gradient) / pairs_[i].product;
      for (size_t k = 0; k < gradient.size(); ++k)
        gradient[k] += (factors[i] - beta) * pairs_[i].step[k];
    }
    return gradient;
  }

 private:
  struct Pair {
    std::vector<double> step;
    std::vector<double> change;
    double product;
  };
  std::deque<Pair> pairs_;
};

/// `function(x, gradient)` returns the value and fills the gradient. x holds the starting point and
/// then the result. Ends after `iterations`, or when the gradient is 1e-5 of its first length.
template <typename Function>
void minimize(const Function& function, size_t iterations, std::vector<double>& x) {
  constexpr double kTolerance = 1e-5, kDecrease = 1e-4;
  std::vector<double> gradient(x.size()), next_gradient(x.size()), next(x.size());
  double value = function(x, gradient);
  const double first = std::sqrt(dot(gradient, gradient));
  Curvature curvature;
  for (size_t i = 0; i < iterations; ++i) {
    if (std::sqrt(dot(gradient, gradient)) <= kTolerance * first) return;
    const std::vector<double> direction = curvature.solve(gradient);
    const double slope = -dot(direction, gradient);
    double length = i == 0 ? std::min(1.0, 1.0 / first) : 1.0, next_value = 0.0;
    for (int tries = 0;; ++tries, length /= 2.0) {
      if (tries == 30) return;  // rounding hides any further decrease
      for (size_t k = 0; k < x.size(); ++k) next[k] = x[k] - length * direction[k];
      next_value = function(next, next_gradient);
      if (next_value <= value + kDecrease * length * slope) break;
    }
    std::vector<double> step(x.size()), change(x.size());
    for (size_t k = 0; k < x.size(); ++k) {
      step[k] = next[k] - x[k];
      change[k] = next_gradient[k] - gradient[k];
    }
    curvature.add(std::move(step), std::move(change));
    x = next;
    gradient = next_gradient;
    value = next_value;
  }
}

}  // namespace vit::train
