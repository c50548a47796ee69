/// Order, bounds and ends of the pipeline; shards, resuming and progress messages.
#include "tools/rows/run/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>

#include "tests/support/few_threads.h"
#include "tests/tools/subprocess.h"
#include "tools/cli/progress.h"
#include "tools/rows/done_rows.h"
#include "tools/rows/shard.h"
#include "tools/rows/sorting/sorting.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

using testing::ElementsAre;

Input numbered(std::uint64_t number) {
  Input input;
  input.number = number;
  input.path = "p" + std::to_string(number);
  return input;
}

void list_numbers(std::uint64_t count, const TakeInput& take) {
  for (std::uint64_t i = 1; i <= count; ++i)
    if (!take(numbered(i))) return;
}

Row answered(Input input) {
  return {std::move(input), {}, {}, {}};
}

TEST(Pipeline, WritesInTheOrderOfTheListing) {
  const std::atomic<bool> stop{false};
  for (const size_t workers : {1u, 3u})
    for (const size_t window : {1u, 2u, 64u}) {
      std::vector<std::uint64_t> written;
      run_pipeline({workers, window}, stop,
                   {.list = [](const TakeInput& take) { list_numbers(500, take); },
                    .work =
                        [](Input input) {
                          if (input.number % 7 == 0) std::this_thread::yield();
                          return answered(std::move(input));
                        },
                    .write = [&](Row row) { written.push_back(row.input.number); },
                    .tick = [] {}});
      ASSERT_EQ(written.size(), 500u);
      for (size_t i = 0; i < written.size(); ++i) ASSERT_EQ(written[i], i + 1);
    }
}

TEST(Pipeline, NeverListsFurtherAheadThanItsWindow) {
  const std::atomic<bool> stop{false};
  constexpr size_t kWindow = 5;
  std::atomic<std::uint64_t> taken{0}, written{0}, furthest{0};
  run_pipeline({2, kWindow}, stop,
               {.list =
                    [&](const TakeInput& take) {
                      for (std::uint64_t i = 1; i <= 300; ++i) {
                        take(numbered(i));
                        ++taken;
                        furthest = std::max<std::uint64_t>(furthest, taken - written);
                      }
                    },
                .work = answered,
                .write = [&](Row) { ++written; },
                .tick = [] {}});
  EXPECT_EQ(written, 300u);
  // The one that is being counted as written is no longer in the window.
  EXPECT_LE(furthest, kWindow + 1);
}

TEST(Pipeline, FinishesWhatIsStartedWhenStopped) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> started{0};
  std::uint64_t written = 0;
  run_pipeline({2, 8}, stop,
               {.list = [](const TakeInput& take) { list_numbers(1'000'000, take); },
                .work =
                    [&](Input input) {
                      ++started;
                      return answered(std::move(input));
                    },
                .write =
                    [&](Row row) {
                      EXPECT_EQ(row.input.number, ++written);
                      if (written == 100) stop = true;
                    },
                .tick = [] {}});
  EXPECT_GE(written, 100u);
  EXPECT_LT(written, 1'000'000u);
  EXPECT_EQ(written, started);
}

TEST(Pipeline, SaysThatNoRowIsReadyBeforeItWaitsForOne) {
  const std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> written{0}, flushed{0};
  run_pipeline({2, 8}, stop,
               {.list =
                    [&](const TakeInput& take) {
                      for (std::uint64_t i = 1; i <= 3; ++i) {
                        take(numbered(i));
                        while (flushed < i) std::this_thread::yield();  // as a reader of rows does
                      }
                    },
                .work = answered,
                .write = [&](Row) { ++written; },
                .tick = [] {},
                .idle = [&] { flushed = written.load(); }});
  EXPECT_EQ(written, 3u);
}

TEST(Pipeline, WritesNothingBehindARowThatWasGivenUp) {
  std::atomic<bool> stop{false};
  std::vector<std::uint64_t> written;
  run_pipeline({3, 8}, stop,
               {.list = [](const TakeInput& take) { list_numbers(3, take); },
                .work = [&](Input input) -> std::optional<Row> {
                  if (input.number == 2) {
                    while (!stop) std::this_thread::yield();
                    return std::nullopt;
                  }
                  return answered(std::move(input));
                },
                .write = [&](Row row) { written.push_back(row.input.number); },
                .tick = [&] { stop = stop || !written.empty(); }});
  EXPECT_THAT(written, ElementsAre(1u));
}

TEST(Pipeline, ThrowsWhatAnyPartThrows) {
  const std::atomic<bool> stop{false};
  const auto run_with = [&](int broken) {
    std::uint64_t written = 0;
    run_pipeline({2, 4}, stop,
                 {.list =
                      [&](const TakeInput& take) {
                        list_numbers(50, take);
                        if (broken == 0) fail("listing");
                      },
                  .work =
                      [&](Input input) {
                        if (broken == 1 && input.number == 20) fail("work");
                        return answered(std::move(input));
                      },
                  .write =
                      [&](Row) {
                        if (broken == 2 && ++written == 20) fail("writing");
                      },
                  .tick = [] {}});
  };
  for (const auto& [broken, message] :
       std::map<int, std::string>{{0, "listing"}, {1, "work"}, {2, "writing"}}) {
    try {
      run_with(broken);
      FAIL() << message;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), message);
    }
  }
  EXPECT_NO_THROW(run_with(3));
}

TEST(Pipeline, ThrowsWhenItsThreadsCannotBeStarted) {
  if (!test::threads_can_be_limited()) GTEST_SKIP() << "memory cannot be limited here";
  const auto run = [] {
    const std::atomic<bool> stop{false};
    run_pipeline({1000, 4}, stop,
                 {.list = [](const TakeInput& take) { list_numbers(50, take); },
                  .work = answered,
                  .write = [](Row) { fail("wrote a row"); },
                  .tick = [] {}});
  };
  EXPECT_EQ(test::message_with_few_threads(run),
            "cannot start 1000 worker threads: Resource temporarily unavailable");
}

/// What contains() says of each path, after a file with rows for `stored`.
std::vector<bool> known(const std::vector<std::string>& stored,
                        const std::vector<std::string>& listing, std::uint64_t* unlisted) {
  const Folder folder;
  Results results(folder.path("r.csv"), ResultKind::kCsv, {});
  results.read_header();
  results.start("{}");
  for (const auto& path : stored) {
    Row row;
    row.input.path = path;
    row.input.number = 1;
    results.append(row);
  }
  results.finish();
  Results again(folder.path("r.csv"), ResultKind::kCsv, {});
  again.read_header();
  const std::atomic<bool> never{false};
  DoneRows done(again, false, never);
  std::vector<bool> known;
  for (const auto& path : listing) {
    Input input;
    input.path = path;
    known.push_back(done.contains(input));
  }
  *unlisted = done.unlisted();
  EXPECT_EQ(done.rows(), stored.size());
  return known;
}

TEST(DoneRows, CountEachRowForOneInputWhateverChanged) {
  std::uint64_t unlisted = 0;
  EXPECT_THAT(known({"a", "b"}, {"a", "b", "c"}, &unlisted), ElementsAre(true, true, false));
  EXPECT_EQ(unlisted, 0u);
  EXPECT_THAT(known({"a", "a"}, {"a", "a", "a"}, &unlisted), ElementsAre(true, true, false));
  EXPECT_THAT(known({"a", "c"}, {"a", "b", "c"}, &unlisted), ElementsAre(true, false, true));
  EXPECT_EQ(unlisted, 0u);
  EXPECT_THAT(known({"a", "b", "c"}, {"a", "c", "d"}, &unlisted), ElementsAre(true, true, false));
  EXPECT_EQ(unlisted, 1u);
  EXPECT_THAT(known({"a", "b", "c"}, {"a"}, &unlisted), ElementsAre(true));
  EXPECT_EQ(unlisted, 2u);
}

TEST(Progress, SaysHowFarHowFastAndHowLong) {
  RunState state{.done = 1500, .earlier = 500, .failed = 3, .total = 2500, .seconds = 10.0};
  EXPECT_EQ(progress_text(state), "1,500 of 2,500 rows, 100.0 images/s, 0:10 left, 3 failed");
  state.total.reset();
  state.failed = 0;
  EXPECT_EQ(progress_text(state), "1,500 rows, 100.0 images/s");
  state.total = 1'001'500;
  EXPECT_EQ(progress_text(state), "1,500 of 1,001,500 rows, 100.0 images/s, 2:46:40 left");
  state.total = 3000;
  EXPECT_EQ(progress_bar(state, 100),
            " 50 % ██████████            1,500 of 3,000 rows, 100.0 images/s, 0:15 left");
  for (const size_t columns : {10u, 39u, 40u, 60u, 80u})
    EXPECT_LT(progress_bar(state, columns).size(), 3 * columns);
}

TEST(Sorting, MakesFoldersThatEveryFileSystemTakes) {
  EXPECT_EQ(class_folders({"tabby, tabby cat", "a/b", "..", "", "crane", "crane", "x\ny "}, 8),
            (ClassFolders{{0, "tabby, tabby cat"},
                          {1, "a_b"},
                          {2, "_.."},
                          {3, "_"},
                          {4, "crane (4)"},
                          {5, "crane (5)"},
                          {6, "x_y"},
                          {7, "class 7"}}));
  EXPECT_EQ(class_folders({std::string(300, 'x')}, 1)[0].size(), 200u);
}

TEST(Sorting, KeepsTheFoldersBelowTheLongestBase) {
  EXPECT_EQ(kept_folders("traps/cam1/100/x.jpg", {"traps"}), "cam1/100");
  EXPECT_EQ(kept_folders("./traps//cam1/x.jpg", {"traps/", "."}), "cam1");
  EXPECT_EQ(kept_folders("/a/b/x.jpg", {"/a/b"}), "");
  EXPECT_EQ(kept_folders("elsewhere/x.jpg", {"traps"}), "");
  EXPECT_EQ(kept_folders("d/s.tar!/cam/x.jpg", {"d"}), "s.tar/cam");
  EXPECT_EQ(kept_folders("d/s.tar!/cam/x.jpg", {"d/s.tar!"}), "cam");
  EXPECT_EQ(kept_folders("d/.hidden/x.jpg", {"d"}), "_.hidden");
}

TEST(DoneRows, AreReadNoFurtherOnceTheRunIsToStop) {
  const Folder folder;
  {
    Results results(folder.path("r.csv"), ResultKind::kCsv, {});
    results.start("{}");
    for (size_t i = 1; i <= 5; ++i) {
      Row row;
      row.input.path = "gone " + std::to_string(i);
      row.input.number = i;
      results.append(row);
    }
    results.finish();
  }
  Results again(folder.path("r.csv"), ResultKind::kCsv, {});
  again.read_header();
  std::atomic<bool> stop{true};
  DoneRows done(again, false, stop);
  EXPECT_TRUE(done.contains(Input{})) << "nothing new is started";
  EXPECT_EQ(done.unlisted(), 0u);
  EXPECT_EQ(done.rows(), 0u);
  EXPECT_FALSE(done.ended());
}

}  // namespace
}  // namespace vit::tools
