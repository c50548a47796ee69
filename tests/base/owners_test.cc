#include "vit/base/owners.h"

#include <gtest/gtest.h>

namespace vit {
namespace {

TEST(ParallelForOwners, RunsEveryIndexOfEveryPartOnce) {
  for (const size_t workers : {1, 2, 5, 70}) {
    ThreadPool pool(workers);
    const size_t owners = owner_count(&pool);
    EXPECT_EQ(owners, std::min(workers, kMostOwners));
    std::vector<std::atomic<int>> calls(owners * 7);
    std::atomic<bool> in_range = true;
    parallel_for_owners(&pool, 7, [&](size_t owner, size_t index, size_t worker) {
      ++calls[owner * 7 + index];
      if (worker >= workers) in_range = false;
    });
    EXPECT_TRUE(in_range);
    for (const auto& n : calls) EXPECT_EQ(n, 1);
  }
}

TEST(ParallelForOwners, OwnRowsAreWholeTilesAsManyForEach) {
  for (const size_t owners : {1, 2, 3, 8, 64})
    for (const size_t rows : {1, 12, 13, 97, 197, 1000}) {
      size_t covered = 0, most = 0, least = rows;
      for (size_t owner = 0; owner < owners; ++owner) {
        const RowRange own = own_rows(rows, owners, owner);
        EXPECT_EQ(own.first, covered);
        covered += own.count;
        EXPECT_TRUE(covered == rows || covered % kWholeTiles == 0);
        most = std::max(most, own.count);
        least = std::min(least, own.count);
      }
      EXPECT_EQ(covered, rows);
      EXPECT_LT(most, least + 2 * kWholeTiles);  // a tile, and a partial one at the end
    }
}

TEST(ForEachRow, VisitsEveryRowOnce) {
  ThreadPool pool(3);
  for (ThreadPool* chosen : {static_cast<ThreadPool*>(nullptr), &pool})
    for (const size_t rows : {0, 1, 16, 17, 197, 1000}) {
      std::vector<std::atomic<int>> visits(rows);
      for_each_row(chosen, rows, [&](size_t row) { ++visits[row]; });
      for (const auto& n : visits) EXPECT_EQ(n, 1);
    }
}

}  // namespace
}  // namespace vit
