/// Temperature scaling (Guo et al. 2017): one factor on the logits that makes a model's confidence
/// agree with how often it is right. It never changes which class comes first.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "weights/checkpoint.h"

namespace vit::tools {

using std::size_t;

/// Losses of the true class at a grid of temperatures from kLowest to kHighest, evenly spaced in
/// their logarithm.
class TemperatureFit {
 public:
  static constexpr size_t kPoints = 129;
  static constexpr double kLowest = 0.1, kHighest = 10.0;

  /// -log p(truth) at each temperature, [kPoints].
  static std::vector<double> losses(std::span<const float> logits, size_t truth);

  void add(std::span<const double> losses);

  /// The temperature of the smallest mean loss: the lowest point of the parabola through the best
  /// grid point and its neighbours, in the logarithm of the temperature.
  double temperature() const;

 private:
  std::vector<double> sums_ = std::vector<double>(kPoints);
};

/// Writes a model with its classifier's weights divided by `temperature`, so that every program
/// that reads the file gets the calibrated answers. Throws an Error if it has no classifier.
void save_calibrated(const weights::Checkpoint& checkpoint, double temperature,
                     const std::filesystem::path& output);

}  // namespace vit::tools
