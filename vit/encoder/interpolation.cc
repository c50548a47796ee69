#include "vit/encoder/interpolation.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

namespace vit {
namespace {

using std::size_t;

/// The interval that holds a place: shares of the values at its ends, which add up to 1.
struct Position {
  size_t start;
  double length;
  double of_start;
  double of_end;
};

Position locate(std::span<const double> places, double at) {
  at = std::clamp(at, places.front(), places.back());
  const auto above = std::upper_bound(places.begin() + 1, places.end() - 1, at);
  const auto end = static_cast<size_t>(above - places.begin());
  const double length = places[end] - places[end - 1];
  const double of_end = (at - places[end - 1]) / length;
  return {end - 1, length, 1.0 - of_end, of_end};
}

/// The curve's second derivative at each place. The equations of the inner ones have three unknowns
/// each; the ends follow from the third derivative, which does not jump at their neighbours.
std::vector<double> bends_of(std::span<const double> x, std::span<const double> y) {
  const size_t last = x.size() - 1;
  std::vector<double> diagonal(last), above(last), bends(last + 1);
  const auto step = [&](size_t i) { return x[i + 1] - x[i]; };
  for (size_t i = 1; i < last; ++i) {
    double below = step(i - 1);
    diagonal[i] = 2.0 * (step(i - 1) + step(i));
    above[i] = step(i);
    bends[i] = 6.0 * ((y[i + 1] - y[i]) / step(i) - (y[i] - y[i - 1]) / step(i - 1));
    if (i == 1) {
      const double ratio = step(0) / step(1);
      diagonal[i] += step(0) * (1.0 + ratio);
      above[i] -= step(0) * ratio;
    }
    if (i == last - 1) {
      const double ratio = step(i) / step(i - 1);
      diagonal[i] += step(i) * (1.0 + ratio);
      below -= step(i) * ratio;
    }
    if (i == 1) continue;
    const double factor = below / diagonal[i - 1];
    diagonal[i] -= factor * above[i - 1];
    bends[i] -= factor * bends[i - 1];
  }
  bends[last - 1] /= diagonal[last - 1];
  for (size_t i = last - 1; i-- > 1;) bends[i] = (bends[i] - above[i] * bends[i + 1]) / diagonal[i];
  const auto beyond = [](double near, double far, double ratio) {
    return near + (near - far) * ratio;
  };
  bends[0] = beyond(bends[1], bends[2], step(0) / step(1));
  bends[last] = beyond(bends[last - 1], bends[last - 2], step(last - 1) / step(last - 2));
  return bends;
}

}  // namespace

std::vector<double> interpolate_linearly(std::span<const double> places,
                                         std::span<const double> values,
                                         std::span<const double> at) {
  assert(!places.empty() && places.size() == values.size());
  if (places.size() == 1) return std::vector<double>(at.size(), values.front());
  std::vector<double> result;
  for (const double place : at) {
    const Position p = locate(places, place);
    // At a place itself, the other value must not matter.
    result.push_back(p.of_end == 0.0
                         ? values[p.start]
                         : p.of_start * values[p.start] + p.of_end * values[p.start + 1]);
  }
  return result;
}

std::vector<double> interpolate_by_spline(std::span<const double> places,
                                          std::span<const double> values,
                                          std::span<const double> at) {
  constexpr size_t kFewestPoints = 4;
  std::vector<double> result = interpolate_linearly(places, values, at);
  if (places.size() < kFewestPoints) return result;
  const std::vector<double> bends = bends_of(places, values);
  for (size_t i = 0; i < at.size(); ++i) {
    const auto [start, length, a, b] = locate(places, at[i]);
    result[i] += ((a * a * a - a) * bends[start] + (b * b * b - b) * bends[start + 1]) * length *
                 length / 6.0;
  }
  return result;
}

}  // namespace vit
