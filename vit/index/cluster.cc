#include "vit/index/cluster.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "vit/base/random.h"
#include "vit/kernels/multiply.h"

namespace vit::index {
namespace {

constexpr size_t kTile = 256;          ///< rows of one product
constexpr size_t kBlock = 64 * kTile;  ///< rows that are looked at before any of them moves
/// A move must add this much to the sum of all cosines: more than the products are off by rounding.
constexpr double kLeastGain = 1e-5;

/// Over the live rows, numbered from 0.
class KMeans {
 public:
  KMeans(const Vectors& vectors, const ClusterOptions& options, const Execution& execution)
      : vectors_(vectors),
        execution_(execution),
        random_({options.seed}),
        rows_(live_rows(vectors)),
        centres_(std::min(options.clusters, rows_.size()), vectors.width),
        sums_(centres_.size()),
        lengths_(centres_.rows()),
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
      if (owners_ == before) result.converged = move_single_rows() == 0;
    }
    if (!result.converged) assign();
    collect(result);
    return result;
  }

 private:
  void copy_row(size_t index, size_t centre) {
    read_rows(vectors_, std::span(&rows_[index], 1), centres_.view().row_range(centre, 1));
  }

  /// Greedy k-means++: of a few rows, drawn with their squared distance to the nearest of the
  /// centres so far as their weight, the one that makes the sum of all distances smallest.
  void choose_centres() {
    const size_t first = random_.below(rows_.size());
    copy_row(first, 0);
    std::vector<float> distances(vectors_.rows, std::numeric_limits<float>::infinity());
    distances = distances_with({&first, 1}, distances).front();
    const auto tries = 2 + static_cast<size_t>(std::log(centres_.rows()));
    for (size_t centre = 1; centre < centres_.rows(); ++centre) {
      std::vector<size_t> drawn(tries);
      for (size_t& index : drawn) index = draw(distances);
      auto choices = distances_with(drawn, distances);
      size_t best = 0;
      double least = std::numeric_limits<double>::infinity();
      for (size_t choice = 0; choice < choices.size(); ++choice) {
        const double sum = sum_over_rows(choices[choice]);
        if (!(sum < least)) continue;
        best = choice;
        least = sum;
      }
      copy_row(drawn[best], centre);
      distances = std::move(choices[best]);
    }
  }

  /// For each of some rows, the squared distances of all rows if it were a centre, too.
  std::vector<std::vector<float>> distances_with(std::span<const size_t> indices,
                                                 const std::vector<float>& distances) const {
    std::vector<size_t> rows;
    for (const size_t index : indices) rows.push_back(rows_[index]);
    Matrix queries(rows.size(), vectors_.width);
    read_rows(vectors_, rows, queries);
    std::vector<std::vector<float>> all(rows.size(), distances);
    const auto take = [&](size_t, size_t from, ConstMatrixView scores) {
      for (size_t q = 0; q < scores.rows; ++q)
        for (size_t i = 0; i < scores.cols; ++i)
          all[q][from + i] = std::min(all[q][from + i], std::max(0.0f, 1.0f - scores(q, i)));
    };
    score_rows(vectors_, queries, take, execution_);
    return all;
  }

  double sum_over_rows(std::span<const float> numbers) const {
    double total = 0.0;
    for (const size_t row : rows_) total += double{numbers[row]};
    return total;
  }

  size_t draw(std::span<const float> weights) {
    double left = random_.uniform() * sum_over_rows(weights);
    for (size_t i = 0; i < rows_.size(); ++i) {
      left -= double{weights[rows_[i]]};
      if (left < 0.0) return i;
    }
    return random_.below(rows_.size());  // all rows are centres already
  }

  /// Calls take(row, products with all centres, the row itself) for every row from `first` on.
  template <typename Take>
  void score(size_t first, size_t count, const Take& take) {
    parallel_for(execution_.pool, (count + kTile - 1) / kTile, [&](size_t tile, size_t) {
      const size_t from = first + tile * kTile;
      Matrix rows(std::min(kTile, first + count - from), vectors_.width);
      Matrix products(rows.rows(), centres_.rows());
      read_rows(vectors_, std::span(rows_).subspan(from, rows.rows()), rows);
      multiply(rows, centres_, products, {.b = Transpose::kYes}, execution_.isa);
      for (size_t i = 0; i < rows.rows(); ++i)
        take(from + i, products.view().row_span(i), rows.view().row_span(i));
    });
  }

  void assign() {
    score(0, rows_.size(), [&](size_t i, std::span<const float> products, std::span<const float>) {
      const auto best = std::ranges::max_element(products);
      owners_[i] = static_cast<size_t>(best - products.begin());
      scores_[i] = *best;
    });
  }

  /// The cluster in which the row adds most to the sum of all cosines, which is the sum of the
  /// lengths of all sums: |s + x|² = |s|² + 2 s·x + |x|².
  size_t best_cluster(size_t owner, std::span<const float> products,
                      std::span<const float> row) const {
    double squares = 0.0;
    for (const float x : row) squares += double{x} * double{x};
    const auto length_with = [&](size_t c, double sign) {
      const double length = lengths_[c], along = length * double{products[c]};
      return std::sqrt(std::max(0.0, length * length + sign * 2.0 * along + squares));
    };
    const double loss = lengths_[owner] - length_with(owner, -1.0);
    size_t best = owner;
    double most = loss + kLeastGain;
    for (size_t c = 0; c < products.size(); ++c) {
      const double gain = length_with(c, 1.0) - lengths_[c];
      if (c == owner || gain <= most) continue;
      best = c;
      most = gain;
    }
    return best;
  }

  /// Moves rows one by one where that makes the sum of all cosines larger, and returns how many.
  size_t move_single_rows() {
    size_t moves = 0;
    std::vector<size_t> targets(rows_.size());
    Matrix row(1, vectors_.width), products(1, centres_.rows());
    for (size_t first = 0; first < rows_.size(); first += kBlock) {
      const size_t count = std::min(kBlock, rows_.size() - first);
      score(first, count, [&](size_t i, std::span<const float> all, std::span<const float> own) {
        targets[i] = best_cluster(owners_[i], all, own);
      });
      for (size_t i = first; i < first + count; ++i) {
        if (targets[i] == owners_[i]) continue;
        // The moves before it have moved the centres.
        read_rows(vectors_, std::span(&rows_[i], 1), row);
        multiply(row, centres_, products, {.b = Transpose::kYes}, execution_.isa);
        const size_t target =
            best_cluster(owners_[i], products.view().row_span(0), row.view().row_span(0));
        if (target == owners_[i]) continue;
        add(row.view().row_span(0), -1.0, owners_[i]);
        add(row.view().row_span(0), 1.0, target);
        owners_[i] = target;
        ++moves;
      }
    }
    return moves;
  }

  void add(std::span<const float> row, double sign, size_t c) {
    const auto sum = sum_of(c);
    for (size_t x = 0; x < sum.size(); ++x) sum[x] += sign * double{row[x]};
    set_centre(c);
  }

  std::vector<std::vector<size_t>> members() const {
    std::vector<std::vector<size_t>> lists(centres_.rows());
    for (size_t i = 0; i < owners_.size(); ++i) lists[owners_[i]].push_back(i);
    return lists;
  }

  void move_centres() {
    const auto lists = members();
    parallel_for(execution_.pool, lists.size(), [&](size_t c, size_t) { sum_up(lists[c], c); });
    std::vector<size_t> farthest(rows_.size());
    std::iota(farthest.begin(), farthest.end(), size_t{0});
    std::ranges::stable_sort(farthest, {}, [&](size_t i) { return scores_[i]; });
    size_t next = 0;
    for (size_t c = 0; c < lists.size(); ++c)
      if (lists[c].empty()) copy_row(farthest[next++], c);
  }

  std::span<double> sum_of(size_t c) {
    return std::span(sums_).subspan(c * vectors_.width, vectors_.width);
  }

  void sum_up(std::span<const size_t> list, size_t c) {
    const auto sum = sum_of(c);
    std::ranges::fill(sum, 0.0);
    Matrix row(1, vectors_.width);
    for (const size_t i : list) {
      read_rows(vectors_, std::span(&rows_[i], 1), row);
      for (size_t x = 0; x < sum.size(); ++x) sum[x] += double{row(0, x)};
    }
    set_centre(c);
  }

  /// The direction of the sum. A sum without direction leaves the centre where it is.
  void set_centre(size_t c) {
    const auto sum = sum_of(c);
    double squares = 0.0;
    for (const double x : sum) squares += x * x;
    lengths_[c] = std::sqrt(squares);
    std::vector<float> mean(sum.begin(), sum.end());
    if (normalize(mean)) std::ranges::copy(mean, centres_.view().row(c));
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
  Matrix centres_;               ///< [clusters, width], unit vectors
  std::vector<double> sums_;     ///< [clusters, width], of the members
  std::vector<double> lengths_;  ///< of the sums
  std::vector<size_t> owners_;   ///< cluster of each row
  std::vector<float> scores_;    ///< cosine of each row with its centre
};

}  // namespace

Clustering cluster(const Vectors& vectors, const ClusterOptions& options,
                   const Execution& execution) {
  return KMeans(vectors, options, execution).run(options.most_rounds);
}

}  // namespace vit::index
