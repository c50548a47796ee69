#include "vit/interpret/statistics.h"

#include <cmath>

namespace vit::interpret {
namespace {

/// [rows, cols]: the distance of patches by their row and column offset.
Matrix distance_table(const TokenLayout& layout) {
  Matrix table(layout.grid.rows, layout.grid.cols);
  for (size_t r = 0; r < layout.grid.rows; ++r)
    for (size_t c = 0; c < layout.grid.cols; ++c)
      table(r, c) = static_cast<float>(std::hypot(static_cast<double>(r * layout.patch_height),
                                                  static_cast<double>(c * layout.patch_width)));
  return table;
}

size_t apart(size_t a, size_t b) {
  return a > b ? a - b : b - a;
}

}  // namespace

double attention_distance(ConstMatrixView head, const TokenLayout& layout) {
  const Matrix table = distance_table(layout);
  const auto [rows, cols] = layout.grid;
  double total = 0.0;
  size_t looking = 0;
  for (size_t query = 0; query < layout.grid.count(); ++query) {
    const float* weight = head.row(layout.first_patch() + query) + layout.first_patch();
    double mass = 0.0, moment = 0.0;
    for (size_t r = 0; r < rows; ++r) {
      const float* distance = table.view().row(apart(r, query / cols));
      for (size_t c = 0; c < cols; ++c, ++weight) {
        mass += *weight;
        moment += double{*weight} * distance[apart(c, query % cols)];
      }
    }
    if (mass <= 0.0) continue;
    total += moment / mass;
    ++looking;
  }
  return looking == 0 ? 0.0 : total / static_cast<double>(looking);
}

double attention_entropy(ConstMatrixView head) {
  double total = 0.0;
  for (size_t r = 0; r < head.rows; ++r)
    for (const float weight : head.row_span(r))
      if (weight > 0.0f) total -= double{weight} * std::log2(weight);
  return total / static_cast<double>(head.rows);
}

double mean_prefix_mass(ConstMatrixView head, const TokenLayout& layout) {
  double total = 0.0;
  for (size_t token = layout.first_patch(); token < layout.tokens(); ++token)
    total += prefix_mass(layout, head.row_span(token));
  return total / static_cast<double>(layout.grid.count());
}

}  // namespace vit::interpret
