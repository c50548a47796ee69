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

TEST(ParallelForOwners, OwnRowsAreWholeTilesAndCoverAll) {
  for (const size_t owners : {1, 2, 3, 8})
    for (const size_t rows : {1, 12, 13, 97, 197, 1000}) {
      EXPECT_EQ(own_rows(rows, owners) % kWholeTiles, 0u);
      EXPECT_GE(own_rows(rows, owners) * owners, rows);
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
