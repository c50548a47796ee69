#include "vit/index/cluster.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "vit/base/random.h"
#include "vit/kernels/multiply.h"

namespace vit::index {
namespace {

constexpr size_t kTile = 256;  ///< rows of one product

/// Over the live rows, numbered from 0.
class KMeans {
 public:
  KMeans(const Vectors& vectors, const ClusterOptions& options, const Execution& execution)
      : vectors_(vectors),
        execution_(execution),
        random_({options.seed}),
        rows_(live_rows(vectors)),
        centres_(std::min(options.clusters, rows_.size()), vectors.width),
        owners_(rows_.size()),
        scores_(rows_.size()) {}

  Clustering run(size_t most_rounds) {
    Clustering result;
    if (centres_.rows() == 0) return result;
    choose_centres();
    assign();
    while (result.rounds < most_rounds && !result.converged) {
      move_centres();
      const std::vector<size_t> before = owners_;
      assign();
      ++result.rounds;
      result.converged = owners_ == before;
    }
    collect(result);
    return result;
  }

 private:
  void copy_row(size_t index, size_t centre) {
    read_rows(vectors_, std::span(&rows_[index], 1), centres_.view().row_range(centre, 1));
  }

  /// k-means++: each further centre is a row, drawn with its squared distance to the nearest of the
  /// centres before as its weight.
  void choose_centres() {
    std::vector<double> distance(vectors_.rows, std::numeric_limits<double>::infinity());
    copy_row(random_.below(rows_.size()), 0);
    for (size_t centre = 1; centre < centres_.rows(); ++centre) {
      const auto take = [&](size_t, size_t first, ConstMatrixView scores) {
        for (size_t i = 0; i < scores.cols; ++i)
          distance[first + i] =
              std::min(distance[first + i], std::max(0.0, 1.0 - double{scores(0, i)}));
      };
      score_rows(vectors_, centres_.view().row_range(centre - 1, 1), take, execution_);
      copy_row(draw(distance), centre);
    }
  }

  size_t draw(std::span<const double> weights) {
    double total = 0.0;
    for (const size_t row : rows_) total += weights[row];
    double left = random_.uniform() * total;
    for (size_t i = 0; i < rows_.size(); ++i) {
      left -= weights[rows_[i]];
      if (left < 0.0) return i;
    }
    return random_.below(rows_.size());  // all rows are centres already
  }

  void assign() {
    parallel_for(execution_.pool, (rows_.size() + kTile - 1) / kTile, [&](size_t tile, size_t) {
      const size_t first = tile * kTile, count = std::min(kTile, rows_.size() - first);
      Matrix rows(count, vectors_.width), products(count, centres_.rows());
      read_rows(vectors_, std::span(rows_).subspan(first, count), rows);
      multiply(rows, centres_, products, {.b = Transpose::kYes}, execution_.isa);
      for (size_t i = 0; i < count; ++i) {
        const auto row = products.view().row_span(i);
        const auto best = std::ranges::max_element(row);
        owners_[first + i] = static_cast<size_t>(best - row.begin());
        scores_[first + i] = *best;
      }
    });
  }

  std::vector<std::vector<size_t>> members() const {
    std::vector<std::vector<size_t>> lists(centres_.rows());
    for (size_t i = 0; i < owners_.size(); ++i) lists[owners_[i]].push_back(i);
    return lists;
  }

  void move_centres() {
    const auto lists = members();
    parallel_for(execution_.pool, lists.size(), [&](size_t c, size_t) {
      if (!lists[c].empty()) move_centre(lists[c], centres_.view().row_span(c));
    });
    std::vector<size_t> farthest(rows_.size());
    std::iota(farthest.begin(), farthest.end(), size_t{0});
    std::ranges::stable_sort(farthest, {}, [&](size_t i) { return scores_[i]; });
    size_t next = 0;
    for (size_t c = 0; c < lists.size(); ++c)
      if (lists[c].empty()) copy_row(farthest[next++], c);
  }

  void move_centre(std::span<const size_t> list, std::span<float> centre) {
    std::vector<double> sums(vectors_.width);
    Matrix row(1, vectors_.width);
    for (const size_t i : list) {
      read_rows(vectors_, std::span(&rows_[i], 1), row);
      for (size_t x = 0; x < sums.size(); ++x) sums[x] += double{row(0, x)};
    }
    std::vector<float> mean(sums.begin(), sums.end());
    if (normalize(mean)) std::ranges::copy(mean, centre.begin());
  }

  void collect(Clustering& result) const {
    for (const auto& list : members()) {
      if (list.empty()) continue;
      Cluster cluster;
      for (const size_t i : list) {
        cluster.members.push_back({rows_[i], scores_[i]});
        cluster.similarity += double{scores_[i]} / static_cast<double>(list.size());
      }
      std::ranges::stable_sort(cluster.members, std::greater(), &Hit::score);
      result.clusters.push_back(std::move(cluster));
    }
    std::ranges::stable_sort(result.clusters, std::greater(),
                             [](const Cluster& c) { return c.members.size(); });
  }

  const Vectors& vectors_;
  Execution execution_;
  Random random_;
  std::vector<size_t> rows_;
  Matrix centres_;              ///< [clusters, width], unit vectors
  std::vector<size_t> owners_;  ///< cluster of each row
  std::vector<float> scores_;   ///< cosine of each row with its centre
};

}  // namespace

Clustering cluster(const Vectors& vectors, const ClusterOptions& options,
                   const Execution& execution) {
  return KMeans(vectors, options, execution).run(options.most_rounds);
}

}  // namespace vit::index
