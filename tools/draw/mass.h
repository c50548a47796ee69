/// A map over the patches, made fit to be looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace vit::interpret {

using std::size_t;

/// The smallest set that holds at least `fraction` of the mass: 1 for its members. Of equal ones
/// the earlier go in. Negative numbers count as nothing.
std::vector<std::uint8_t> mass_set(std::span<const float> map, double fraction);

/// The value that `percent` of the numbers do not exceed, interpolated between neighbours; 0 of
/// nothing.
double percentile(std::span<const float> map, double percent);

}  // namespace vit::interpret
