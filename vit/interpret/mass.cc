#include "vit/interpret/mass.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace vit::interpret {

std::vector<std::uint8_t> mass_set(std::span<const float> map, double fraction) {
  std::vector<size_t> order(map.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return map[a] > map[b]; });
  double total = 0.0;
  for (const float value : map) total += std::max(value, 0.0f);

  std::vector<std::uint8_t> members(map.size());
  // A hair below, so that the rounding of the numbers themselves does not call in one more.
  const double wanted = fraction * total * (1.0 - 1e-6);
  double held = 0.0;
  for (const size_t i : order) {
    if (held >= wanted || map[i] <= 0.0f) break;
    held += map[i];
    members[i] = 1;
  }
  return members;
}

double percentile(std::span<const float> map, double percent) {
  if (map.empty()) return 0.0;
  std::vector<float> sorted(map.begin(), map.end());
  std::sort(sorted.begin(), sorted.end());
  const double place = percent / 100.0 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(std::floor(place));
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = place - static_cast<double>(below);
  return sorted[below] * (1.0 - part) + sorted[above] * part;
}

}  // namespace vit::interpret
