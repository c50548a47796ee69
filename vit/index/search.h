/// Exact search: the rows with the largest products with a vector.
#pragma once

#include <functional>
#include <vector>

#include "vit/index/vectors.h"
#include "vit/kernels/execution.h"

namespace vit::index {

/// Takes the products [queries, rows] with consecutive rows from `first` on. Called by any worker,
/// once for every row.
using TakeScores = std::function<void(size_t worker, size_t first, ConstMatrixView scores)>;

/// Every row with every query, live or not. The rows are read once, however many queries there are,
/// and in order within large pieces, so that a mapped file streams.
void score_rows(const Vectors& vectors, ConstMatrixView queries, const TakeScores& take,
                const Execution& execution);

struct Hit {
  size_t row = 0;
  float score = 0.0f;  ///< the cosine, where query and rows are unit vectors

  bool operator==(const Hit&) const = default;
};

/// The `k` live rows of each query with the largest products, the best first; equal ones in the
/// order of their rows. Rows whose product is NaN are left out.
std::vector<std::vector<Hit>> search(const Vectors& vectors, ConstMatrixView queries, size_t k,
                                     const Execution& execution);

}  // namespace vit::index
