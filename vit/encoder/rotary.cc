#include "vit/encoder/rotary.h"

#include <cassert>
#include <cmath>
#include <numbers>

namespace vit {
namespace {

/// Where row or column `index` of `count` lies.
double coordinate(const RotaryConfig& config, size_t index, size_t count, size_t reference) {
  const double at = static_cast<double>(index), all = static_cast<double>(count);
  if (config.kind == RotaryKind::kNormalized) return 2.0 * (at + 0.5) / all - 1.0;
  const double shifted = at + double{config.offset};
  return reference == 0 ? shifted : shifted / all * static_cast<double>(reference);
}

/// What a coordinate is multiplied by, d / 4 of them.
std::vector<double> frequencies_of(const RotaryConfig& config, size_t count,
                                   std::span<const float> periods) {
  const double temperature = config.temperature;
  std::vector<double> frequencies(count);
  for (size_t k = 0; k < count; ++k) {
    const double exponent = static_cast<double>(k) / static_cast<double>(count);
    if (config.kind == RotaryKind::kAxial)
      frequencies[k] = std::pow(temperature, -exponent);
    else
      frequencies[k] = 2.0 * std::numbers::pi /
                       (periods.empty() ? std::pow(temperature, exponent) : double{periods[k]});
  }
  return frequencies;
}

}  // namespace

std::vector<double> rotary_angles(const RotaryConfig& config, GridSize grid, size_t head_width,
                                  std::span<const float> periods) {
  const size_t quarter = head_width / 4;
  assert(head_width % 4 == 0 && (periods.empty() || periods.size() == quarter));
  const std::vector<double> frequencies = frequencies_of(config, quarter, periods);
  std::vector<double> angles;
  angles.reserve(grid.count() * 2 * quarter);
  for (size_t patch = 0; patch < grid.count(); ++patch) {
    const double y = coordinate(config, patch / grid.cols, grid.rows, config.reference.rows);
    const double x = coordinate(config, patch % grid.cols, grid.cols, config.reference.cols);
    for (const double frequency : frequencies)
      angles.push_back((config.columns_first ? x : y) * frequency);
    for (const double frequency : frequencies)
      angles.push_back((config.columns_first ? y : x) * frequency);
  }
  return angles;
}

std::vector<double> rotary_angles(const RotaryConfig& config, GridSize grid,
                                  std::span<const float> first, std::span<const float> second,
                                  size_t heads) {
  const size_t half = first.size() / heads;
  std::vector<double> angles;
  angles.reserve(grid.count() * first.size());
  for (size_t head = 0; head < heads; ++head)
    for (size_t patch = 0; patch < grid.count(); ++patch) {
      const auto y = static_cast<double>(patch / grid.cols);
      const auto x = static_cast<double>(patch % grid.cols);
      for (size_t m = head * half; m < (head + 1) * half; ++m)
        angles.push_back((config.columns_first ? x : y) * double{first[m]} +
                         (config.columns_first ? y : x) * double{second[m]});
    }
  return angles;
}

Rotary make_rotary(const RotaryConfig& config, std::span<const double> angles, size_t head_width) {
  const size_t half = head_width / 2, rows = angles.size() / half;
  const bool split = config.split_halves;
  Rotary rotary{.head_width = head_width,
                .split_halves = split,
                .cosines = Matrix(rows, split ? half : head_width),
                .sines = Matrix(rows, split ? half : head_width)};
  for (size_t i = 0; i < angles.size(); ++i) {
    const size_t row = i / half, m = i % half;
    const auto cosine = static_cast<float>(std::cos(angles[i]));
    const auto sine = static_cast<float>(std::sin(angles[i]));
    if (split) {
      rotary.cosines(row, m) = cosine;
      rotary.sines(row, m) = sine;
    } else {
      rotary.cosines(row, 2 * m) = rotary.cosines(row, 2 * m + 1) = cosine;
      rotary.sines(row, 2 * m) = -sine;
      rotary.sines(row, 2 * m + 1) = sine;
    }
  }
  return rotary;
}

}  // namespace vit
