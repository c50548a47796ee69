#include "vit/index/diverse.h"

#include <algorithm>
#include <limits>

namespace vit::index {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();

/// Rows that are taken in one pass over all others.
constexpr size_t kAtOnce = 256;

/// The mean of the live rows, as a unit vector; zeros where it has no length.
Matrix mean_of(const Vectors& vectors) {
  std::vector<double> sums(vectors.width);
  Matrix one(1, vectors.width);
  for (size_t row = 0; row < vectors.rows; ++row) {
    if (!vectors.is_live(row)) continue;
    read_rows(vectors, std::span(&row, 1), one);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += double{one(0, i)};
  }
  std::ranges::transform(sums, one.data(), [](double x) { return static_cast<float>(x); });
  normalize(one.view().row_span(0));
  return one;
}

class Picker {
 public:
  Picker(const Vectors& vectors, const Execution& execution)
      : vectors_(vectors),
        execution_(execution),
        nearest_(vectors.rows, kNothing),
        taken_(vectors.rows) {
    for (size_t row = 0; row < vectors.rows; ++row) taken_[row] = vectors.is_live(row) ? 0 : 1;
  }

  void take(std::span<const size_t> rows) {
    for (const size_t row : rows) taken_[row] = 1;
    Matrix queries(rows.size(), vectors_.width);
    read_rows(vectors_, rows, queries);
    score_rows(
        vectors_, queries,
        [&](size_t, size_t first, ConstMatrixView scores) {
          for (size_t q = 0; q < scores.rows; ++q)
            for (size_t i = 0; i < scores.cols; ++i)
              nearest_[first + i] = std::max(nearest_[first + i], scores(q, i));
        },
        execution_);
  }

  /// The row that is least similar to those taken; its row is that of the end where there is none.
  Hit farthest() const {
    Hit best{vectors_.rows, std::numeric_limits<float>::infinity()};
    for (size_t row = 0; row < vectors_.rows; ++row)
      if (taken_[row] == 0 && nearest_[row] < best.score) best = {row, nearest_[row]};
    return best;
  }

 private:
  const Vectors& vectors_;
  Execution execution_;
  std::vector<float> nearest_;
  std::vector<std::uint8_t> taken_;
};

}  // namespace

std::vector<Hit> pick_diverse(const Vectors& vectors, std::span<const size_t> taken, size_t count,
                              const Execution& execution) {
  Picker picker(vectors, execution);
  for (size_t first = 0; first < taken.size(); first += kAtOnce)
    picker.take(taken.subspan(first, std::min(kAtOnce, taken.size() - first)));
  std::vector<Hit> picks;
  if (taken.empty() && count > 0) {
    picks = search(vectors, mean_of(vectors), 1, execution).front();
    if (!picks.empty()) picker.take(std::span(&picks.front().row, 1));
  }
  while (picks.size() < count) {
    const Hit next = picker.farthest();
    if (next.row == vectors.rows) break;
    picks.push_back(next);
    picker.take(std::span(&next.row, 1));
  }
  return picks;
}

}  // namespace vit::index
