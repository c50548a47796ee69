#include "vit/index/cluster.h"
#include "tests/support/execution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "tests/index/support.h"

namespace vit::index {
namespace {

using test::unit_rows;

/// Row r belongs to the group r % groups; group g has its own axis.
Matrix planted(size_t groups, size_t rows, float noise) {
  constexpr size_t kWidth = 48;
  Matrix data = unit_rows(rows, kWidth, 3);
  for (size_t r = 0; r < rows; ++r) {
    for (float& x : data.view().row_span(r)) x *= noise;
    data(r, r % groups) += 1.0f;
    normalize(data.view().row_span(r));
  }
  return data;
}

TEST(Cluster, FindsThePlantedGroupsWhateverTheSeed) {
  constexpr size_t kGroups = 7, kRows = 700;
  const Matrix data = planted(kGroups, kRows, 0.5f);
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    const auto result =
        cluster(vectors_of(data), {.clusters = kGroups, .seed = seed}, vit::test::best_execution());
    EXPECT_TRUE(result.converged);
    ASSERT_EQ(result.clusters.size(), kGroups);
    for (const Cluster& one : result.clusters) {
      EXPECT_EQ(one.members.size(), kRows / kGroups);
      for (const Hit& hit : one.members)
        EXPECT_EQ(hit.row % kGroups, one.members.front().row % kGroups);
      EXPECT_GE(one.members.front().score, one.members.back().score);
    }
  }
}

TEST(Cluster, PutsEveryLiveRowIntoOneClusterTheLargestFirst) {
  const Matrix data = unit_rows(500, 16, 1);
  Vectors vectors = vectors_of(data);
  vectors.live.assign(500, 1);
  for (size_t r = 0; r < 500; r += 5) vectors.live[r] = 0;
  const auto result = cluster(vectors, {.clusters = 12, .seed = 4}, vit::test::best_execution());
  std::set<size_t> rows;
  size_t before = 500;
  for (const Cluster& one : result.clusters) {
    EXPECT_LE(one.members.size(), before);
    before = one.members.size();
    for (const Hit& hit : one.members) {
      EXPECT_NE(hit.row % 5, 0u);
      EXPECT_TRUE(rows.insert(hit.row).second);
    }
  }
  EXPECT_EQ(rows.size(), 400u);
}

TEST(Cluster, IsTheSameForASeedOnAnyNumberOfWorkers) {
  const Matrix data = unit_rows(20'000, 12, 1);  // too many to move one by one
  const ClusterOptions options{.clusters = 20, .seed = 9, .most_rounds = 30};
  const auto alone = cluster(vectors_of(data), options, vit::test::best_execution());
  ThreadPool pool(4);
  const auto shared = cluster(vectors_of(data), options, vit::test::best_execution(&pool));
  ASSERT_EQ(shared.clusters.size(), alone.clusters.size());
  EXPECT_EQ(shared.rounds, alone.rounds);
  for (size_t c = 0; c < alone.clusters.size(); ++c)
    EXPECT_EQ(shared.clusters[c].members, alone.clusters[c].members);
}

using Sums = std::vector<std::vector<double>>;

double length_of(const std::vector<double>& sum) {
  return std::sqrt(std::inner_product(sum.begin(), sum.end(), sum.begin(), 0.0));
}

/// The length of a sum with `times` the row added.
double length_with(std::vector<double> sum, std::span<const float> row, double times) {
  for (size_t i = 0; i < row.size(); ++i) sum[i] += times * double{row[i]};
  return length_of(sum);
}

/// The sums of the clusters' rows, in double precision.
Sums sums_of(const Matrix& data, const Clustering& result) {
  Sums sums;
  for (const Cluster& one : result.clusters) {
    sums.emplace_back(data.cols());
    for (const Hit& hit : one.members)
      for (size_t i = 0; i < data.cols(); ++i) sums.back()[i] += double{data(hit.row, i)};
  }
  return sums;
}

/// The sum of all cosines with the centres of the clusters.
double objective_of(const Sums& sums) {
  double total = 0.0;
  for (const auto& sum : sums) total += length_of(sum);
  return total;
}

TEST(Cluster, EndsWhereNoRowWouldBeBetterElsewhere) {
  const Matrix data = unit_rows(300, 40, 8);
  const auto result =
      cluster(vectors_of(data), {.clusters = 9, .seed = 2}, vit::test::best_execution());
  EXPECT_TRUE(result.converged);
  const Sums sums = sums_of(data, result);
  double similarity = 0.0;
  for (size_t c = 0; c < sums.size(); ++c) {
    const Cluster& one = result.clusters[c];
    similarity += one.similarity * static_cast<double>(one.members.size());
    for (const Hit& hit : one.members) {
      const auto row = data.view().row_span(hit.row);
      const double along = std::inner_product(row.begin(), row.end(), sums[c].begin(), 0.0);
      EXPECT_NEAR(hit.score, along / length_of(sums[c]), 1e-5);
      const double loss = length_of(sums[c]) - length_with(sums[c], row, -1.0);
      for (size_t other = 0; other < sums.size(); ++other)
        if (other != c) {
          EXPECT_LE(length_with(sums[other], row, 1.0) - length_of(sums[other]), loss + 1e-4);
        }
    }
  }
  EXPECT_NEAR(similarity, objective_of(sums), 1e-3);
}

/// All partitions of nine rows into three clusters.
double best_objective(const Matrix& data) {
  double best = 0.0;
  for (size_t code = 0; code < 19683; ++code) {
    Sums sums(3, std::vector<double>(data.cols()));
    size_t rest = code;
    for (size_t r = 0; r < 9; ++r, rest /= 3)
      for (size_t i = 0; i < data.cols(); ++i) sums[rest % 3][i] += double{data(r, i)};
    best = std::max(best, objective_of(sums));
  }
  return best;
}

TEST(Cluster, FindsTheBestPartitionOfFewRowsWithOneOfAFewSeeds) {
  for (const unsigned set : {1, 2, 3}) {
    const Matrix data = unit_rows(9, 4, set);
    double best = 0.0;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const auto result =
          cluster(vectors_of(data), {.clusters = 3, .seed = seed}, vit::test::best_execution());
      best = std::max(best, objective_of(sums_of(data, result)));
    }
    EXPECT_NEAR(best, best_objective(data), 1e-5) << set;
  }
}

TEST(Cluster, TakesMoreClustersThanThereAreDifferentRows) {
  Matrix data(6, 2);
  for (size_t r = 0; r < 6; ++r) data(r, r % 2) = 1.0f;
  const auto result =
      cluster(vectors_of(data), {.clusters = 50, .seed = 1}, vit::test::best_execution());
  size_t rows = 0;
  for (const Cluster& one : result.clusters) rows += one.members.size();
  EXPECT_EQ(rows, 6u);
  EXPECT_GE(result.clusters.size(), 2u);
  Vectors none = vectors_of(data);
  none.live.assign(6, 0);
  EXPECT_TRUE(cluster(none, {.clusters = 3}, vit::test::best_execution()).clusters.empty());
}

}  // namespace
}  // namespace vit::index
