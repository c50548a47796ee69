/// Groups of images that are nearly the same.
#pragma once

#include <span>
#include <vector>

#include "vit/index/search.h"

namespace vit::index {

struct DuplicateGroup {
  size_t kept = 0;            ///< the row that comes first in the order
  std::vector<Hit> others{};  ///< the rows that it stands for, with their products, in the order
};

/// Takes the rows in `order`, the ones to keep first. A row whose product with a kept row before it
/// is `threshold` or more joins the one with the largest product, the first of equal ones; any
/// other row is kept. So every row that could go is that similar to one that stays, and similarity
/// is not passed on along a chain. Groups of one are left out. Compares each row with all kept rows
/// before it; memory does not grow with the pairs.
std::vector<DuplicateGroup> group_duplicates(const Vectors& vectors, std::span<const size_t> order,
                                             float threshold, const Execution& execution);

}  // namespace vit::index
