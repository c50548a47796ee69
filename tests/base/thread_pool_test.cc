#include "vit/base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/few_threads.h"
#include "vit/base/thread_error.h"

namespace vit {
namespace {

TEST(ThreadPool, RunsEveryIndexOnceWithWorkersInRange) {
  for (const size_t workers : {1, 2, 5}) {
    ThreadPool pool(workers);
    ASSERT_EQ(pool.size(), workers);
    for (const size_t count : {0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> calls(count);
      std::atomic<bool> in_range = true;
      pool.run(count, [&](size_t index, size_t worker) {
        ++calls[index];
        if (worker >= workers) in_range = false;
      });
      EXPECT_TRUE(in_range);
      for (const auto& n : calls) EXPECT_EQ(n, 1);
    }
  }
}

TEST(ThreadPool, RunsManySmallLoopsInARow) {
  ThreadPool pool(3);
  std::atomic<size_t> sum = 0;
  for (size_t round = 0; round < 20000; ++round)
    pool.run(3, [&](size_t index, size_t) { sum += index; });
  EXPECT_EQ(sum, 20000u * 3u);
}

TEST(ThreadPool, RethrowsTheFirstExceptionAndKeepsWorking) {
  ThreadPool pool(2);
  EXPECT_THROW(pool.run(100,
                        [](size_t index, size_t) {
                          if (index == 3) throw std::runtime_error("three");
                        }),
               std::runtime_error);
  std::atomic<size_t> calls = 0;
  pool.run(10, [&](size_t, size_t) { ++calls; });
  EXPECT_EQ(calls, 10u);
}

TEST(ThreadPool, ServesSeveralCallersOneAfterTheOther) {
  ThreadPool pool(2);
  std::atomic<size_t> calls = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) pool.run(7, [&](size_t, size_t) { ++calls; });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(calls, 4u * 200u * 7u);
}

TEST(ParallelFor, IsSerialWithoutAPool) {
  size_t next = 0;
  parallel_for(nullptr, 5, [&](size_t index, size_t worker) {
    EXPECT_EQ(index, next++);
    EXPECT_EQ(worker, 0u);
  });
  EXPECT_EQ(next, 5u);
}

TEST(ThreadPool, ThrowsWhenAThreadCannotBeStartedAndEndsThoseThatWere) {
  if (!test::threads_can_be_limited()) GTEST_SKIP() << "memory cannot be limited here";
  EXPECT_EQ(test::message_with_few_threads([] { ThreadPool pool(1000); }),
            "cannot start 1000 worker threads: Resource temporarily unavailable");
}

}  // namespace
}  // namespace vit
