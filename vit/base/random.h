/// Random numbers that are the same on every machine, and that any image of any epoch can draw by
/// itself: nothing depends on which worker came first.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numbers>
#include <utility>

namespace vit {

using std::size_t;

/// SplitMix64 (Steele, Lea and Flood 2014): one 64-bit state, every seed is a good one.
class Random {
 public:
  /// A stream of its own for every sequence of keys: {seed, epoch, image}.
  explicit Random(std::initializer_list<std::uint64_t> keys) {
    for (const std::uint64_t key : keys) state_ = mix(state_ ^ (key + kGolden));
  }

  std::uint64_t next() { return mix(state_ += kGolden); }
  /// In [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  bool chance(double probability) { return uniform() < probability; }
  /// Below `n`, which is far below 2^32: the bias is not worth a loop.
  size_t below(size_t n) { return static_cast<size_t>(uniform() * static_cast<double>(n)); }

  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }
  /// Without the tails beyond two standard deviations.
  double truncated_normal() {
    double value = normal();
    while (std::abs(value) > 2.0) value = normal();
    return value;
  }
  /// Beta(a, a) by Jöhnk's method; a of mixup is at most 1, where it rejects little.
  double symmetric_beta(double a) {
    for (;;) {
      const double x = std::pow(uniform(), 1.0 / a), y = std::pow(uniform(), 1.0 / a);
      if (x + y <= 1.0 && x + y > 0.0) return x / (x + y);
    }
  }

 private:
  static constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t state_ = 0;
};

/// All orders are equally likely (Fisher and Yates).
template <typename Items>
void shuffle(Random& random, Items& items) {
  for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

}  // namespace vit
