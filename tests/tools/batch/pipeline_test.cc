/// Order, bounds and ends of the pipeline; shards, resuming and what people see.
#include "tools/batch/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>

#include "tests/support/few_threads.h"
#include "tests/tools/subprocess.h"
#include "tools/batch/results/done_rows.h"
#include "tools/batch/results/shard.h"
#include "tools/batch/sorting.h"
#include "tools/cli/progress.h"
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

TEST(Pipeline, FinishesWhatIsBegunWhenStopped) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> begun{0};
  std::uint64_t written = 0;
  run_pipeline({2, 8}, stop,
               {.list = [](const TakeInput& take) { list_numbers(1'000'000, take); },
                .work =
                    [&](Input input) {
                      ++begun;
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
  EXPECT_EQ(written, begun);
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

TEST(Shard, EveryPathBelongsToExactlyOneAndAllGetTheirShare) {
  for (const size_t count : {1u, 3u, 7u}) {
    std::vector<size_t> sizes(count);
    for (int i = 0; i < 7000; ++i) {
      const std::string path = "photos/IMG_" + std::to_string(i) + ".jpg";
      size_t owners = 0;
      for (size_t index = 0; index < count; ++index)
        if (is_ours({index, count, {}}, path)) {
          ++owners;
          ++sizes[index];
        }
      ASSERT_EQ(owners, 1u);
    }
    for (const size_t size : sizes) {
      EXPECT_GT(size, 7000 / count * 9 / 10);
      EXPECT_LT(size, 7000 / count * 11 / 10 + 1);
    }
  }
}

TEST(Shard, HashStaysTheSameInEveryVersion) {
  EXPECT_EQ(path_hash(""), 17665956581633026203u);
  EXPECT_EQ(path_hash("photos/cat.jpg"), 8793030459525778587u);
}

std::optional<Shard> shard_of(std::vector<const char*> words,
                              const std::map<std::string, std::string>& environment) {
  cxxopts::Options options("test");
  add_shard_options(options);
  return find_shard(parse(options, words), [&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST(Shard, ComesFromTheOptionOrTheLauncher) {
  EXPECT_EQ(shard_of({}, {}), std::nullopt);
  EXPECT_EQ(shard_of({"--shard", "2/7"}, {}), (Shard{2, 7, {}}));
  EXPECT_EQ(shard_of({}, {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "4"}}), (Shard{1, 4, {}}));
  EXPECT_EQ(shard_of({}, {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}), std::nullopt);
  EXPECT_EQ(shard_of({}, {{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "3"}}),
            (Shard{2, 3, {}}));
  EXPECT_EQ(shard_of({"--shards", "5"}, {{"JOB_COMPLETION_INDEX", "4"}}), (Shard{4, 5, {}}));
  // Open MPI under Slurm: one task per node, many ranks.
  EXPECT_EQ(shard_of({}, {{"SLURM_PROCID", "0"},
                          {"SLURM_NTASKS", "1"},
                          {"OMPI_COMM_WORLD_RANK", "2"},
                          {"OMPI_COMM_WORLD_SIZE", "3"}}),
            (Shard{2, 3, {}}));
  EXPECT_EQ(shard_of({"--shard", "0/1"}, {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "4"}}),
            (Shard{0, 1, {}}));
}

TEST(Shard, RefusesWhatDoesNotGoTogether) {
  const auto message = [](std::vector<const char*> words,
                          const std::map<std::string, std::string>& environment) {
    try {
      shard_of(words, environment);
      return std::string("accepted");
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(message({"--shard", "3/3"}, {}),
            "option '--shard' got '3/3', but the 3 parts are 0 to 2");
  for (const auto* bad : {"1", "a/b", "/", "1/0", "-1/3", "1/3x", ""})
    EXPECT_EQ(message({"--shard", bad}, {}), "option '--shard' got '" + std::string(bad) +
                                                 "', expected I/N such as 0/4: part 0 of 4");
  EXPECT_EQ(message({}, {{"JOB_COMPLETION_INDEX", "1"}}),
            "the variable JOB_COMPLETION_INDEX is set, but the number of parts is not; give "
            "--shards N, the job's completions, or --shard 0/1 to take everything");
  EXPECT_EQ(message({"--shards", "3"}, {{"JOB_COMPLETION_INDEX", "3"}}),
            "the variable JOB_COMPLETION_INDEX is 3, but there are 3 parts");
  EXPECT_EQ(message({"--shards", "3"}, {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "4"}}),
            "option '--shards' got 3, but SLURM_NTASKS is 4");
  EXPECT_EQ(message({"--shards", "3"}, {}),
            "--shards 3 given, but none of the variables SLURM_PROCID, OMPI_COMM_WORLD_RANK and "
            "JOB_COMPLETION_INDEX gives the index of this part; give --shard I/3");
  EXPECT_EQ(message({"--shards", "3", "--shard", "0/3"}, {}),
            "--shard and --shards given, expected one of them");
}

TEST(Shard, HasAFileOfItsOwnName) {
  EXPECT_EQ(shard_file("a/out.csv", {2, 7, {}}), "a/out-00002-of-00007.csv");
  const auto name = parse_shard_file("a/out-00002-of-00007.csv");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->output, "a/out.csv");
  EXPECT_EQ(name->shard, (Shard{2, 7, {}}));
  for (const auto* other : {"out.csv", "out-00007-of-00007.csv", "out-2-of-7.csv", "-of-.csv"})
    EXPECT_FALSE(parse_shard_file(other)) << other;
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
            " 50% ██████████            1,500 of 3,000 rows, 100.0 images/s, 0:15 left");
  for (const size_t columns : {10u, 39u, 40u, 60u, 80u})
    EXPECT_LT(progress_bar(state, columns).size(), 3 * columns);
}

TEST(Sorting, MakesFoldersThatEveryFileSystemTakes) {
  EXPECT_THAT(class_folders({"tabby, tabby cat", "a/b", "..", "", "crane", "crane", "x\ny "}, 8),
              ElementsAre("tabby, tabby cat", "a_b", "_..", "_", "crane (4)", "crane (5)", "x_y",
                          "class 7"));
  EXPECT_EQ(class_folders({std::string(300, 'x')}, 1)[0].size(), 200u);
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
  EXPECT_TRUE(done.contains(Input{})) << "nothing new is begun";
  EXPECT_EQ(done.unlisted(), 0u);
  EXPECT_EQ(done.rows(), 0u);
  EXPECT_FALSE(done.ended());
}

}  // namespace
}  // namespace vit::tools
