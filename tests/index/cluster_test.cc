#include "vit/index/cluster.h"

#include <gtest/gtest.h>

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
    const auto result = cluster(vectors_of(data), {.clusters = kGroups, .seed = seed});
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
  const auto result = cluster(vectors, {.clusters = 12, .seed = 4});
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
  const Matrix data = unit_rows(1500, 24, 1);
  const ClusterOptions options{.clusters = 20, .seed = 9};
  const auto alone = cluster(vectors_of(data), options);
  ThreadPool pool(4);
  const auto shared = cluster(vectors_of(data), options, {.pool = &pool});
  ASSERT_EQ(shared.clusters.size(), alone.clusters.size());
  EXPECT_EQ(shared.rounds, alone.rounds);
  for (size_t c = 0; c < alone.clusters.size(); ++c)
    EXPECT_EQ(shared.clusters[c].members, alone.clusters[c].members);
}

TEST(Cluster, TakesMoreClustersThanThereAreDifferentRows) {
  Matrix data(6, 2);
  for (size_t r = 0; r < 6; ++r) data(r, r % 2) = 1.0f;
  const auto result = cluster(vectors_of(data), {.clusters = 50, .seed = 1});
  size_t rows = 0;
  for (const Cluster& one : result.clusters) rows += one.members.size();
  EXPECT_EQ(rows, 6u);
  EXPECT_GE(result.clusters.size(), 2u);
  Vectors none = vectors_of(data);
  none.live.assign(6, 0);
  EXPECT_TRUE(cluster(none, {.clusters = 3}).clusters.empty());
}

}  // namespace
}  // namespace vit::index
