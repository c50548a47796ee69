/// Which inputs belong to which shard, and how schedulers tell.
#include "tools/rows/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace vit::tools {
namespace {

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

using Variables = std::map<std::string, std::string>;

TEST(Shard, ComesFromTheOptionOrTheScheduler) {
  EXPECT_EQ(shard_of({}, {}), std::nullopt);
  EXPECT_EQ(shard_of({"--shard", "2/7"}, {}), (Shard{2, 7, {}}));
  const std::vector<std::pair<Variables, Shard>> schedulers{
      {{{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}}, {1, 4, {}}},
      {{{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "3"}}, {2, 3, {}}},
      {{{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}}, {0, 3, {}}},
      {{{"SLURM_ARRAY_TASK_ID", "3"}, {"SLURM_ARRAY_TASK_COUNT", "5"}}, {3, 5, {}}},
      {{{"SLURM_ARRAY_TASK_ID", "5"},  // --array=1-9:2, as Slurm sets it
        {"SLURM_ARRAY_TASK_COUNT", "5"},
        {"SLURM_ARRAY_TASK_MIN", "1"},
        {"SLURM_ARRAY_TASK_MAX", "9"},
        {"SLURM_ARRAY_TASK_STEP", "2"},
        {"SLURM_PROCID", "0"}},
       {2, 5, {}}},
      {{{"SGE_TASK_ID", "12"},
        {"SGE_TASK_FIRST", "10"},
        {"SGE_TASK_LAST", "15"},
        {"SGE_TASK_STEPSIZE", "2"}},
       {1, 3, {}}},
      {{{"LSB_JOBINDEX", "1"}, {"LSB_JOBINDEX_END", "8"}, {"LSB_JOBINDEX_STEP", "1"}}, {0, 8, {}}},
      {{{"AWS_BATCH_JOB_ARRAY_INDEX", "9"}, {"AWS_BATCH_JOB_ARRAY_SIZE", "10"}}, {9, 10, {}}},
      {{{"CLOUD_RUN_TASK_INDEX", "0"}, {"CLOUD_RUN_TASK_COUNT", "2"}}, {0, 2, {}}},
      {{{"BATCH_TASK_INDEX", "1"}, {"BATCH_TASK_COUNT", "2"}}, {1, 2, {}}}};
  for (const auto& [variables, expected] : schedulers) {
    const auto found = shard_of({}, variables);
    ASSERT_TRUE(found) << variables.begin()->first;
    EXPECT_EQ(*found, expected) << found->source;
    EXPECT_EQ(shard_of({"--shards", "1"}, variables), std::nullopt) << found->source;
    EXPECT_EQ(shard_of({"--shard", "0/1"}, variables), (Shard{0, 1, {}})) << found->source;
    const std::string count = std::to_string(expected.count);
    EXPECT_EQ(shard_of({"--shards", count.c_str()}, variables), expected) << found->source;
  }
  for (const auto* index : {"JOB_COMPLETION_INDEX", "PBS_ARRAY_INDEX", "PBS_ARRAYID"})
    EXPECT_EQ(shard_of({"--shards", "5"}, {{index, "4"}}), (Shard{4, 5, {}})) << index;
}

TEST(Shard, IsOfTheInnermostLauncherTimesTheArray) {
  const Variables ranks{{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "3"}};
  const auto with = [](Variables some, const Variables& more) {
    some.insert(more.begin(), more.end());
    return some;
  };
  // mpirun under Slurm: one task per node, many ranks.
  EXPECT_EQ(shard_of({}, with(ranks, {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}})),
            (Shard{2, 3, {}}));
  EXPECT_EQ(shard_of({}, with(ranks, {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}})),
            (Shard{2, 3, {}}));
  // Two tasks in each of four jobs of an array.
  const Variables array{{"SLURM_ARRAY_TASK_ID", "3"},
                        {"SLURM_ARRAY_TASK_COUNT", "4"},
                        {"SLURM_PROCID", "1"},
                        {"SLURM_STEP_NUM_TASKS", "2"}};
  EXPECT_EQ(shard_of({}, array), (Shard{7, 8, {}}));
  EXPECT_EQ(shard_of({}, array)->source, "SLURM_ARRAY_TASK_ID and SLURM_PROCID");
  EXPECT_EQ(shard_of({"--shards", "12"}, with(ranks, {{"PBS_ARRAY_INDEX", "1"}})),
            (Shard{5, 12, {}}));
}

TEST(Shard, IsNoneIfAJobRunsAlone) {
  const std::vector<Variables> alone{
      {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}},  // in the script of sbatch, without srun
      {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}},
      {{"SLURM_ARRAY_TASK_ID", "0"}, {"SLURM_ARRAY_TASK_COUNT", "1"}},
      {{"SGE_TASK_ID", "undefined"}, {"SGE_TASK_FIRST", "undefined"}},
      {{"LSB_JOBINDEX", "0"}, {"LSB_JOBINDEX_END", "0"}},
      {{"PMI_RANK", "0"}},
      {{"JOB_COMPLETION_INDEX", ""}}};
  for (const auto& variables : alone)
    EXPECT_EQ(shard_of({}, variables), std::nullopt) << variables.begin()->first;
}

TEST(Shard, RefusesWhatDoesNotGoTogether) {
  const auto message = [](std::vector<const char*> words, const Variables& environment) {
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
  EXPECT_EQ(message({"--shards", "3", "--shard", "0/3"}, {}),
            "--shard and --shards given, expected one of them");
  for (const std::string index : {"JOB_COMPLETION_INDEX", "PBS_ARRAY_INDEX", "LSB_JOBINDEX"}) {
    EXPECT_EQ(message({}, {{index, "1"}}),
              "the variable " + index +
                  " is set, but the number of parts is not; give --shards N, "
                  "or --shards 1 to take everything");
    EXPECT_EQ(message({}, {{index, "x"}}), "the variable " + index + " is 'x', expected a number");
  }
  EXPECT_EQ(message({"--shards", "3"}, {{"PBS_ARRAY_INDEX", "3"}}),
            "the variable PBS_ARRAY_INDEX is 3, but there are 3 parts, counted from 0");
  EXPECT_EQ(message({"--shards", "3"}, {{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}}),
            "option '--shards' got 3, but by PMI_RANK there are 4 parts; give --shard I/3, counted "
            "from 0");
  EXPECT_EQ(message({}, {{"CLOUD_RUN_TASK_INDEX", "4"}, {"CLOUD_RUN_TASK_COUNT", "4"}}),
            "the variable CLOUD_RUN_TASK_INDEX is 4, but there are 4 parts");
  EXPECT_EQ(message({}, {{"SLURM_ARRAY_TASK_ID", "4"},  // --array=1,4,7
                         {"SLURM_ARRAY_TASK_COUNT", "3"},
                         {"SLURM_ARRAY_TASK_MIN", "1"},
                         {"SLURM_ARRAY_TASK_MAX", "7"},
                         {"SLURM_ARRAY_TASK_STEP", "1"}}),
            "the variable SLURM_ARRAY_TASK_ID is 4, but the indices of this array are not evenly "
            "spaced, so they do not say which part this is; give --shard I/N, counted from 0");
  EXPECT_EQ(message({}, {{"SLURM_ARRAY_TASK_ID", "3"},  // one job of an array, submitted again
                         {"SLURM_ARRAY_TASK_COUNT", "1"},
                         {"SLURM_ARRAY_TASK_MIN", "3"},
                         {"SLURM_ARRAY_TASK_MAX", "3"}}),
            "the variable SLURM_ARRAY_TASK_ID is 3, and this array has no other index; give "
            "--shard I/N if this is a part of an earlier array, or --shards 1 to take everything");
  EXPECT_EQ(message({"--shards", "3"}, {}),
            "--shards 3 given, but no variable gives the index of this part; give --shard I/3, or "
            "set one of OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID, SLURM_ARRAY_TASK_ID, "
            "SGE_TASK_ID, LSB_JOBINDEX, PBS_ARRAY_INDEX, PBS_ARRAYID, AWS_BATCH_JOB_ARRAY_INDEX, "
            "CLOUD_RUN_TASK_INDEX, BATCH_TASK_INDEX, JOB_COMPLETION_INDEX");
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

}  // namespace
}  // namespace vit::tools
