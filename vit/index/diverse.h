/// Images that differ most from each other.
#pragma once

#include <span>
#include <vector>

#include "vit/index/search.h"

namespace vit::index {

/// Farthest-point selection (Gonzalez 1985): again and again the live row that is least similar to
/// all rows taken so far. `taken` are rows that count as taken from the start; where there are
/// none, the row nearest to the mean of all comes first. The score of a hit is its largest product
/// with the rows before it; of the first one, with the mean. Fewer than `count` where there are no
/// more rows.
std::vector<Hit> pick_diverse(const Vectors& vectors, std::span<const size_t> taken, size_t count,
                              const Execution& execution);

}  // namespace vit::index
