/// Curves through points, between which they are read.
#pragma once

#include <span>
#include <vector>

namespace vit {

/// `values` at `places`, which rise; the values at each of `at`. Outside the places a curve keeps
/// its value at the nearest one.
using Interpolation1d = std::vector<double> (*)(std::span<const double> places,
                                                std::span<const double> values,
                                                std::span<const double> at);

/// Straight lines between the points.
std::vector<double> interpolate_linearly(std::span<const double> places,
                                         std::span<const double> values,
                                         std::span<const double> at);

/// The cubic spline whose first two pieces are one cubic, and its last two (not-a-knot), as
/// FITPACK's. Fewer than four points, which no cubic needs, are joined by straight lines.
std::vector<double> interpolate_by_spline(std::span<const double> places,
                                          std::span<const double> values,
                                          std::span<const double> at);

}  // namespace vit
