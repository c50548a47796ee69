#include "tools/draw/mass.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace vit::tools {
namespace {

/// NaN cannot be sorted.
std::vector<float> finite_or_zero(std::span<const float> map) {
  std::vector<float> values(map.begin(), map.end());
  for (float& value : values)
    if (!std::isfinite(value)) value = 0.0f;
  return values;
}

}  // namespace

std::vector<std::uint8_t> mass_set(std::span<const float> map, double fraction) {
  const std::vector<float> values = finite_or_zero(map);
  std::vector<size_t> order(map.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return values[a] > values[b]; });
  double total = 0.0;
  for (const float value : values) total += std::max(value, 0.0f);

  std::vector<std::uint8_t> members(map.size());
  // Slightly below, so that rounding does not add one more.
  const double wanted = fraction * total * (1.0 - 1e-6);
  double held = 0.0;
  for (const size_t i : order) {
    if (held >= wanted || values[i] <= 0.0f) break;
    held += values[i];
    members[i] = 1;
  }
  return members;
}

double percentile(std::span<const float> map, double percent) {
  if (map.empty()) return 0.0;
  std::vector<float> sorted = finite_or_zero(map);
  std::sort(sorted.begin(), sorted.end());
  const double place = percent / 100.0 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(std::floor(place));
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = place - static_cast<double>(below);
  return sorted[below] * (1.0 - part) + sorted[above] * part;
}

}  // namespace vit::tools
