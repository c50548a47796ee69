/// Mass sets and percentiles of a map over the patches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace vit::tools {

using std::size_t;

/// The smallest set that holds at least `fraction` of the mass: 1 for its members. Among equal
/// ones the first are chosen. Negative numbers count as 0.
std::vector<std::uint8_t> mass_set(std::span<const float> map, double fraction);

/// The value that `percent` of the numbers do not exceed, interpolated between neighbours; 0 if
/// there are none.
double percentile(std::span<const float> map, double percent);

}  // namespace vit::tools
