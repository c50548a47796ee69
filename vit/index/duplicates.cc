#include "vit/index/duplicates.h"

#include <algorithm>
#include <limits>
#include <map>

#include "vit/kernels/multiply.h"

namespace vit::index {
namespace {

constexpr size_t kTile = 256;  ///< rows on either side of a product
constexpr size_t kNone = std::numeric_limits<size_t>::max();

/// By places in the order.
class Grouping {
 public:
  Grouping(const Vectors& vectors, std::span<const size_t> order, float threshold)
      : vectors_(vectors),
        order_(order),
        threshold_(threshold),
        joined_(order.size(), kNone),
        scores_(order.size()) {}

  void run(const Execution& execution) {
    for (size_t first = 0; first < order_.size(); first += kTile) {
      const std::vector<size_t> kept = group_tile(first);
      const Matrix rows = rows_at(kept);
      const size_t behind = first + kTile, left = order_.size() - std::min(order_.size(), behind);
      parallel_for(execution.pool, (left + kTile - 1) / kTile,
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
  /// The places of a tile that have joined nothing yet.
  std::vector<size_t> free_places(size_t first) const {
    std::vector<size_t> places;
    for (size_t place = first; place < std::min(order_.size(), first + kTile); ++place)
      if (joined_[place] == kNone) places.push_back(place);
    return places;
  }

  Matrix rows_at(std::span<const size_t> places) const {
    std::vector<size_t> rows;
    for (const size_t place : places) rows.push_back(order_[place]);
    Matrix matrix(rows.size(), vectors_.width);
    read_rows(vectors_, rows, matrix);
    return matrix;
  }

  static Matrix products(const Matrix& a, const Matrix& b) {
    Matrix c(a.rows(), b.rows());
    multiply(a, b, c, {.b = Transpose::kYes});
    return c;
  }

  /// Decides the tile within itself and returns the places that are kept.
  std::vector<size_t> group_tile(size_t first) {
    const std::vector<size_t> places = free_places(first);
    if (places.empty()) return {};
    const Matrix rows = rows_at(places), similar = products(rows, rows);
    std::vector<size_t> kept;
    for (size_t i = 0; i < places.size(); ++i) {
      if (joined_[places[i]] != kNone) continue;
      kept.push_back(places[i]);
      for (size_t j = i + 1; j < places.size(); ++j)
        if (joined_[places[j]] == kNone && similar(i, j) >= threshold_)
          set(places[j], places[i], similar(i, j));
    }
    return kept;
  }

  /// Lets the rows of a later tile join the kept ones.
  void join(std::span<const size_t> kept, const Matrix& rows, size_t first) {
    const std::vector<size_t> places = free_places(first);
    if (places.empty() || kept.empty()) return;
    const Matrix similar = products(rows, rows_at(places));
    for (size_t j = 0; j < places.size(); ++j)
      for (size_t i = 0; i < kept.size(); ++i)
        if (similar(i, j) >= threshold_) {
          set(places[j], kept[i], similar(i, j));
          break;
        }
  }

  void set(size_t place, size_t kept, float score) {
    joined_[place] = kept;
    scores_[place] = score;
  }

  const Vectors& vectors_;
  std::span<const size_t> order_;
  float threshold_;
  std::vector<size_t> joined_;  ///< the place of the kept row; kNone: kept, or not decided yet
  std::vector<float> scores_;
};

}  // namespace

std::vector<DuplicateGroup> group_duplicates(const Vectors& vectors, std::span<const size_t> order,
                                             float threshold, const Execution& execution) {
  Grouping grouping(vectors, order, threshold);
  grouping.run(execution);
  return grouping.groups();
}

}  // namespace vit::index
