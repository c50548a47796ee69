#include "vit/index/search.h"
#include "tests/support/execution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "tests/index/support.h"
#include "vit/index/diverse.h"
#include "vit/index/duplicates.h"
#include "weights/numbers.h"

namespace vit::index {
namespace {

using test::unit_rows;
using testing::ElementsAre;
using testing::Field;

/// All rows, sorted by their products in double precision.
std::vector<Hit> oracle(ConstMatrixView rows, std::span<const float> query) {
  std::vector<double> products(rows.rows);
  for (size_t r = 0; r < rows.rows; ++r)
    for (size_t i = 0; i < rows.cols; ++i) products[r] += double{rows(r, i)} * double{query[i]};
  std::vector<size_t> order(rows.rows);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t r) { return products[r]; });
  std::vector<Hit> hits;
  for (const size_t r : order) hits.push_back({r, static_cast<float>(products[r])});
  return hits;
}

TEST(Search, FindsWhatAllProductsInDoublePrecisionSay) {
  ThreadPool pool(3);
  // Rows of 2048 numbers make several pieces of 4 MB.
  for (const auto& [rows, width] : {std::pair<size_t, size_t>{1, 3}, {700, 37}, {2000, 2048}}) {
    const Matrix data = unit_rows(rows, width, 1), queries = unit_rows(4, width, 2);
    const auto hits = search(vectors_of(data), queries, 10, vit::test::best_execution(&pool));
    ASSERT_EQ(hits.size(), 4u);
    for (size_t q = 0; q < 4; ++q) {
      const auto expected = oracle(data, queries.view().row_span(q));
      ASSERT_EQ(hits[q].size(), std::min<size_t>(10, rows));
      for (size_t i = 0; i < hits[q].size(); ++i) {
        EXPECT_EQ(hits[q][i].row, expected[i].row);
        EXPECT_NEAR(hits[q][i].score, expected[i].score, 1e-6);
      }
    }
  }
}

TEST(Search, IsTheSameToTheBitOnAnyNumberOfWorkers) {
  const Matrix data = unit_rows(5000, 512, 1), queries = unit_rows(2, 512, 2);
  const auto alone = search(vectors_of(data), queries, 50, vit::test::best_execution());
  for (const size_t workers : {2, 5}) {
    ThreadPool pool(workers);
    EXPECT_EQ(search(vectors_of(data), queries, 50, vit::test::best_execution(&pool)), alone);
  }
}

TEST(Search, PutsEqualRowsInTheirOrder) {
  Matrix data(6, 2);
  for (const size_t r : {0, 2, 3, 5}) data(r, 0) = 1.0f;
  for (const size_t r : {1, 4}) data(r, 1) = 1.0f;
  Matrix query(1, 2);
  query(0, 0) = 1.0f;
  EXPECT_THAT(search(vectors_of(data), query, 3, vit::test::best_execution()).front(),
              ElementsAre(Hit{0, 1.0f}, Hit{2, 1.0f}, Hit{3, 1.0f}));
}

TEST(Search, LeavesOutRowsThatDoNotCount) {
  Matrix data = unit_rows(5, 4, 1);
  data(3, 0) = std::numeric_limits<float>::quiet_NaN();
  Vectors vectors = vectors_of(data);
  vectors.live = {1, 0, 1, 1, 0};
  const auto hits = search(vectors, unit_rows(1, 4, 2), 5, vit::test::best_execution());
  for (const Hit& hit : hits.front()) EXPECT_TRUE(hit.row == 0 || hit.row == 2) << hit.row;
  EXPECT_EQ(hits.front().size(), 2u);
  EXPECT_TRUE(search(vectors, unit_rows(1, 4, 2), 0, vit::test::best_execution()).front().empty());
}

TEST(Search, ReadsSeveralBlocksOfNumbersIn16Bits) {
  const Matrix data = unit_rows(40, 33, 1), query = unit_rows(1, 33, 2);
  std::vector<std::uint16_t> halves(data.size());
  std::transform(data.data(), data.data() + data.size(), halves.begin(), weights::f16_of_float);
  Vectors vectors{.type = NumberType::kF16, .width = 33, .rows = 40};
  const auto* bytes = reinterpret_cast<const std::byte*>(halves.data());
  vectors.blocks = {{bytes, 0, 7}, {bytes + 7 * 66, 7, 30}, {bytes + 37 * 66, 37, 3}};
  const auto expected = oracle(data, query.view().row_span(0));
  const auto hits = search(vectors, query, 5, vit::test::best_execution()).front();
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(hits[i].row, expected[i].row);
    // 33 terms, each off by 2^-11 of itself, and the terms of unit vectors add up to at most 1.
    EXPECT_NEAR(hits[i].score, expected[i].score, 0x1p-11);
  }
  Matrix rows(2, 33);
  const std::vector<size_t> wanted{38, 6};
  read_rows(vectors, wanted, rows);
  for (size_t i = 0; i < 33; ++i) {
    EXPECT_EQ(rows(0, i), weights::float_of_f16(halves[38 * 33 + i]));
    EXPECT_EQ(rows(1, i), weights::float_of_f16(halves[6 * 33 + i]));
  }
}

/// `copies` rows near each of `originals` random ones, by a cosine of about 1 - noise² / 2.
Matrix planted(size_t originals, size_t copies, float noise) {
  constexpr size_t kWidth = 64;
  const Matrix base = unit_rows(originals, kWidth, 5);
  const Matrix change = unit_rows(originals * copies, kWidth, 6);
  Matrix rows(originals * copies, kWidth);
  for (size_t r = 0; r < rows.rows(); ++r) {
    for (size_t i = 0; i < kWidth; ++i)
      rows(r, i) = base(r % originals, i) + (r < originals ? 0.0f : noise) * change(r, i);
    normalize(rows.view().row_span(r));
  }
  return rows;
}

TEST(Duplicates, AreThePlantedOnesWhateverTileTheyLieIn) {
  constexpr size_t kOriginals = 400, kCopies = 3;  // 1200 rows: five tiles
  const Matrix rows = planted(kOriginals, kCopies, 0.2f);
  const auto order = live_rows(vectors_of(rows));
  ThreadPool pool(3);
  const auto groups =
      group_duplicates(vectors_of(rows), order, 0.95f, vit::test::best_execution(&pool));
  ASSERT_EQ(groups.size(), kOriginals);
  for (size_t g = 0; g < kOriginals; ++g) {
    EXPECT_EQ(groups[g].kept, g);
    ASSERT_EQ(groups[g].others.size(), kCopies - 1);
    for (size_t i = 0; i < kCopies - 1; ++i) {
      EXPECT_EQ(groups[g].others[i].row, g + (i + 1) * kOriginals);
      EXPECT_NEAR(groups[g].others[i].score, 1.0 / std::sqrt(1.0 + 0.04), 0.02);
    }
  }
}

TEST(Duplicates, KeepTheRowThatComesFirstInTheOrder) {
  const Matrix rows = planted(2, 2, 0.1f);
  const std::vector<size_t> order{3, 2, 1, 0};
  const auto groups = group_duplicates(vectors_of(rows), order, 0.95f, vit::test::best_execution());
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].kept, 3u);
  EXPECT_THAT(groups[0].others, ElementsAre(Field(&Hit::row, 1u)));
  EXPECT_EQ(groups[1].kept, 2u);
}

TEST(Duplicates, AreNotPassedOnAlongAChain) {
  // Neighbours are 20 degrees apart: cosine 0.94; second neighbours 40: 0.77.
  Matrix rows(5, 2);
  for (size_t r = 0; r < 5; ++r) {
    const double angle = static_cast<double>(r) * 20.0 * std::numbers::pi / 180.0;
    rows(r, 0) = static_cast<float>(std::cos(angle));
    rows(r, 1) = static_cast<float>(std::sin(angle));
  }
  const std::vector<size_t> order{0, 1, 2, 3, 4};
  const auto groups = group_duplicates(vectors_of(rows), order, 0.9f, vit::test::best_execution());
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].kept, 0u);
  EXPECT_THAT(groups[0].others, ElementsAre(Field(&Hit::row, 1u)));
  EXPECT_EQ(groups[1].kept, 2u);
  EXPECT_THAT(groups[1].others, ElementsAre(Field(&Hit::row, 3u)));
}

/// The rule in its plain form, in double precision: for each place in the order the place of the
/// row that it joins, or its own.
std::vector<size_t> grouped_by_rule(const Matrix& rows, std::span<const size_t> order,
                                    double threshold) {
  std::vector<size_t> joined(order.size());
  for (size_t place = 0; place < order.size(); ++place) {
    joined[place] = place;
    double best = threshold;
    for (size_t before = 0; before < place; ++before) {
      if (joined[before] != before) continue;
      double product = 0.0;
      for (size_t i = 0; i < rows.cols(); ++i)
        product += double{rows(order[place], i)} * double{rows(order[before], i)};
      if (product < best) continue;
      joined[place] = before;
      best = product;
    }
  }
  return joined;
}

TEST(Duplicates, AreThoseOfTheRuleInItsPlainForm) {
  const Matrix rows = unit_rows(900, 6, 4);  // so few numbers that rows have many neighbours
  std::vector<size_t> order(900);
  for (size_t i = 0; i < order.size(); ++i) order[i] = i * 7 % 900;
  ThreadPool pool(3);
  for (const float threshold : {0.8f, 0.95f, 0.999f}) {
    const auto expected = grouped_by_rule(rows, order, double{threshold});
    std::vector<size_t> joined(order.size()), place_of(order.size());
    for (size_t place = 0; place < order.size(); ++place) {
      joined[place] = place;
      place_of[order[place]] = place;
    }
    const auto groups =
        group_duplicates(vectors_of(rows), order, threshold, vit::test::best_execution(&pool));
    for (const auto& group : groups)
      for (const Hit& hit : group.others) joined[place_of[hit.row]] = place_of[group.kept];
    EXPECT_EQ(joined, expected) << threshold;
    const auto alone =
        group_duplicates(vectors_of(rows), order, threshold, vit::test::best_execution());
    ASSERT_EQ(alone.size(), groups.size());
    for (size_t g = 0; g < groups.size(); ++g) EXPECT_EQ(alone[g].others, groups[g].others);
  }
}

/// Farthest-point selection in its plain form, after rows that are taken.
std::vector<size_t> picked_by_rule(const Matrix& rows, std::vector<size_t> taken, size_t count) {
  std::vector<size_t> picks;
  while (picks.size() < count) {
    size_t farthest = rows.rows();
    double least = 2.0;
    for (size_t r = 0; r < rows.rows(); ++r) {
      double nearest = -2.0;
      for (const size_t t : taken) {
        double product = 0.0;
        for (size_t i = 0; i < rows.cols(); ++i) product += double{rows(r, i)} * double{rows(t, i)};
        nearest = std::max(nearest, t == r ? 3.0 : product);
      }
      if (nearest >= least) continue;
      farthest = r;
      least = nearest;
    }
    picks.push_back(farthest);
    taken.push_back(farthest);
  }
  return picks;
}

TEST(Diverse, IsTheRuleInItsPlainForm) {
  const Matrix rows = unit_rows(800, 10, 7);
  std::vector<size_t> taken(300);  // more than are taken in one pass
  std::iota(taken.begin(), taken.end(), size_t{200});
  ThreadPool pool(3);
  const auto picks = pick_diverse(vectors_of(rows), taken, 20, vit::test::best_execution(&pool));
  std::vector<size_t> picked;
  for (const Hit& hit : picks) picked.push_back(hit.row);
  EXPECT_EQ(picked, picked_by_rule(rows, taken, 20));
  EXPECT_EQ(pick_diverse(vectors_of(rows), taken, 20, vit::test::best_execution()), picks);
}

TEST(Diverse, PicksOneOfEachPlantedGroupFirst) {
  constexpr size_t kOriginals = 8;
  const Matrix rows = planted(kOriginals, 50, 0.3f);
  const auto picks = pick_diverse(vectors_of(rows), {}, kOriginals, vit::test::best_execution());
  std::vector<size_t> groups;
  for (const Hit& hit : picks) groups.push_back(hit.row % kOriginals);
  std::ranges::sort(groups);
  EXPECT_THAT(groups, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  for (size_t i = 2; i < picks.size(); ++i) EXPECT_GE(picks[i].score, picks[i - 1].score);
}

TEST(Diverse, StaysAwayFromRowsThatAreTaken) {
  const Matrix rows = planted(4, 20, 0.2f);
  const std::vector<size_t> taken{0, 5, 10};  // of the groups 0, 1 and 2
  const auto picks = pick_diverse(vectors_of(rows), taken, 1, vit::test::best_execution());
  ASSERT_EQ(picks.size(), 1u);
  EXPECT_EQ(picks.front().row % 4, 3u);
}

TEST(Diverse, EndsWhenEveryRowIsTaken) {
  const Matrix rows = unit_rows(3, 4, 1);
  Vectors vectors = vectors_of(rows);
  vectors.live = {1, 0, 1};
  EXPECT_EQ(pick_diverse(vectors, {}, 9, vit::test::best_execution()).size(), 2u);
  vectors.live = {0, 0, 0};
  EXPECT_TRUE(pick_diverse(vectors, {}, 9, vit::test::best_execution()).empty());
}

}  // namespace
}  // namespace vit::index
