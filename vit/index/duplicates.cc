#include "vit/index/duplicates.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "vit/kernels/multiply.h"

namespace vit::index {
namespace {

constexpr size_t kTile = 256;  ///< rows on either side of a product
constexpr size_t kNone = std::numeric_limits<size_t>::max();

/// By places in the order.
class Grouping {
 public:
  Grouping(const Vectors& vectors, std::span<const size_t> order, float threshold,
           const Execution& execution)
      : vectors_(vectors),
        order_(order),
        threshold_(threshold),
        execution_(execution),
        joined_(order.size(), kNone),
        scores_(order.size()) {}

  void run() {
    for (size_t first = 0; first < order_.size(); first += kTile) {
      const std::vector<size_t> kept = group_tile(first);
      const Matrix rows = rows_at(kept);
      const size_t behind = first + kTile, left = order_.size() - std::min(order_.size(), behind);
      parallel_for(execution_.pool, (left + kTile - 1) / kTile,
                   [&](size_t tile, size_t) { join(kept, rows, behind + tile * kTile); });
    }
  }

  std::vector<DuplicateGroup> groups() const {
    std::map<size_t, DuplicateGroup> groups;
    for (size_t place = 0; place < order_.size(); ++place) {
      if (joined_[place] == kNone) continue;
      DuplicateGroup& group = groups[joined_[place]];
      group.kept = order_[joined_[place]];
      group.others.push_back({order_[place], scores_[place]});
    }
    std::vector<DuplicateGroup> list;
    for (auto& [place, group] : groups) list.push_back(std::move(group));
    return list;
  }

 private:
  std::vector<size_t> places_of_tile(size_t first) const {
    std::vector<size_t> places(std::min(kTile, order_.size() - first));
    std::iota(places.begin(), places.end(), first);
    return places;
  }

  Matrix rows_at(std::span<const size_t> places) const {
    std::vector<size_t> rows;
    for (const size_t place : places) rows.push_back(order_[place]);
    Matrix matrix(rows.size(), vectors_.width);
    read_rows(vectors_, rows, matrix);
    return matrix;
  }

  Matrix products(const Matrix& a, const Matrix& b) const {
    Matrix c(a.rows(), b.rows());
    multiply(a, b, c, {.b = Transpose::kYes}, execution_.isa);
    return c;
  }

  /// Decides the tile within itself, after all tiles before it, and returns the places that are
  /// kept.
  std::vector<size_t> group_tile(size_t first) {
    const std::vector<size_t> places = places_of_tile(first);
    const Matrix rows = rows_at(places), similar = products(rows, rows);
    std::vector<size_t> kept;
    for (size_t i = 0; i < places.size(); ++i) {
      if (joined_[places[i]] != kNone) continue;
      kept.push_back(places[i]);
      for (size_t j = i + 1; j < places.size(); ++j) offer(places[i], similar(i, j), places[j]);
    }
    return kept;
  }

  /// Lets the rows of a later tile join the kept ones.
  void join(std::span<const size_t> kept, const Matrix& rows, size_t first) {
    if (kept.empty()) return;
    const std::vector<size_t> places = places_of_tile(first);
    const Matrix similar = products(rows, rows_at(places));
    for (size_t i = 0; i < kept.size(); ++i) {
      const auto row = similar.view().row_span(i);
      if (!has_duplicate(row)) continue;
      for (size_t j = 0; j < places.size(); ++j) offer(kept[i], row[j], places[j]);
    }
  }

  /// Without branches, so that it takes little beside the products; most rows have none.
  bool has_duplicate(std::span<const float> scores) const {
    unsigned found = 0;
    for (const float score : scores) found |= static_cast<unsigned>(score >= threshold_);
    return found != 0;
  }

  void offer(size_t kept, float score, size_t place) {
    if (!(score >= threshold_) || (joined_[place] != kNone && !(score > scores_[place]))) return;
    joined_[place] = kept;
    scores_[place] = score;
  }

  const Vectors& vectors_;
  std::span<const size_t> order_;
  float threshold_;
  Execution execution_;
  std::vector<size_t> joined_;  ///< the place of the kept row; kNone: kept, or not decided yet
  std::vector<float> scores_;
};

}  // namespace

std::vector<DuplicateGroup> group_duplicates(const Vectors& vectors, std::span<const size_t> order,
                                             float threshold, const Execution& execution) {
  Grouping grouping(vectors, order, threshold, execution);
  grouping.run();
  return grouping.groups();
}

}  // namespace vit::index
