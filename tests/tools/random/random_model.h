/// Valid models that were never published.
#pragma once

#include <filesystem>
#include <random>
#include <vector>

#include "vit/base/config.h"

namespace vit::test {

/// Small choices from one seed.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  size_t below(size_t n) { return n == 0 ? 0 : engine_() % n; }
  size_t between(size_t least, size_t most) { return least + below(most - least + 1); }
  /// True once in `n` times.
  bool once_in(size_t n) { return below(n) == 0; }
  bool coin() { return once_in(2); }
  float normal() { return std::normal_distribution<float>()(engine_); }
  template <typename T>
  T one_of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }

 private:
  std::mt19937_64 engine_;
};

/// Any configuration that validate() accepts: tiny, but of every kind.
ModelConfig random_config(Dice& dice);

/// A self-described file of that configuration: random weights, recipe, labels and number format.
void save_random_model(const std::filesystem::path& path, const ModelConfig& config, Dice& dice);

}  // namespace vit::test
