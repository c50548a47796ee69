/// Shards of many machines make up the whole: under real mpirun, Slurm and GNU parallel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/support/paths.h"
#include "tests/support/sanitizer.h"
#include "tests/tools/batch/batch_call.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

bool on_path(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

std::string one_run(const Folder& folder, const std::string& name) {
  const Finished finished = batch({folder.path("in"), "-o", folder.path(name)});
  EXPECT_EQ(finished.status, 0) << finished.err;
  return content_of(folder.path(name));
}

std::string shard(const Folder& folder, const std::string& name, size_t index, size_t count,
                  std::vector<std::string> more = {}) {
  const std::string part = std::to_string(index) + "/" + std::to_string(count);
  more.insert(more.end(), {folder.path("in"), "-o", folder.path(name), "--shard", part});
  const Finished finished = batch(more);
  EXPECT_EQ(finished.status, 0) << finished.err;
  char numbers[32];
  std::snprintf(numbers, sizeof numbers, "-%05zu-of-%05zu", index, count);
  const fs::path path = name;
  return folder.path(path.stem().string() + numbers + path.extension().string());
}

TEST(Shards, MakeUpTheWhole) {
  const Folder folder;
  write_images(folder, 60);
  for (const auto* format : {"csv", "jsonl", "db"}) {
    const std::string expected = one_run(folder, "one." + std::string(format));
    for (const size_t count : {1u, 3u, 7u}) {
      const std::string name = "n" + std::to_string(count) + "." + format;
      for (size_t i = count; i-- > 0;)
        EXPECT_TRUE(fs::exists(shard(folder, name, i, count) + ".done"));
      const Finished merged = run({"join", folder.path(name)});
      ASSERT_EQ(merged.status, 0) << merged.err;
      EXPECT_THAT(merged.err,
                  HasSubstr(name + ": 60 rows of " + std::to_string(count) + " shards"));
      EXPECT_EQ(content_of(folder.path(name)), expected) << count << " shards of " << format;
    }
  }
}

TEST(Shards, ComeFromTheEnvironmentOfTheirLauncher) {
  const Folder folder;
  write_images(folder, 12);
  const std::string expected = one_run(folder, "one.csv");
  const std::vector<std::pair<std::string, std::vector<std::string>>> launchers{
      {"slurm", {"SLURM_PROCID=#", "SLURM_STEP_NUM_TASKS=2"}},
      {"array", {"SLURM_ARRAY_TASK_ID=#", "SLURM_ARRAY_TASK_COUNT=2"}},
      {"cloud", {"CLOUD_RUN_TASK_INDEX=#", "CLOUD_RUN_TASK_COUNT=2"}},
      {"aws", {"AWS_BATCH_JOB_ARRAY_INDEX=#", "AWS_BATCH_JOB_ARRAY_SIZE=2"}},
      {"mpi", {"OMPI_COMM_WORLD_RANK=#", "OMPI_COMM_WORLD_SIZE=2"}},
      {"pbs", {"PBS_ARRAY_INDEX=#"}},
      {"kubernetes", {"JOB_COMPLETION_INDEX=#"}}};
  for (const auto& [name, variables] : launchers) {
    for (const char index : {'0', '1'}) {
      Call call = batch_call({folder.path("in"), "-o", folder.path(name + ".csv")});
      if (name == "kubernetes" || name == "pbs")
        call.arguments.insert(call.arguments.end(), {"--shards", "2"});
      call.environment = variables;
      call.environment[0].back() = index;
      const Finished finished = run(call);
      ASSERT_EQ(finished.status, 0) << finished.err;
    }
    ASSERT_EQ(run({"join", "-q", folder.path(name + ".csv")}).status, 0) << name;
    EXPECT_EQ(read_file(folder.path(name + ".csv")), expected) << name;
  }
}

TEST(Shards, RunUnderMpirun) {
  if (!on_path("mpirun")) GTEST_SKIP() << "mpirun (Debian: openmpi-bin) is not installed";
  const Folder folder;
  write_images(folder, 40);
  const std::string expected = one_run(folder, "one.csv");
  Call call = batch_call({folder.path("in"), "-o", folder.path("r.csv")});
  call.program = "mpirun";
  call.arguments.insert(call.arguments.begin(),
                        {"--allow-run-as-root", "--oversubscribe", "-n", "3", test::program()});
  call.environment = {"OMPI_MCA_plm_rsh_agent=false"};  // one machine: no ssh needed
  const Finished finished = run(call);
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Finished merged = run({"join", folder.path("r.csv")});
  ASSERT_EQ(merged.status, 0) << merged.err;
  EXPECT_EQ(read_file(folder.path("r.csv")), expected);
}

TEST(Shards, RunUnderMpich) {
  if (!on_path("mpiexec.hydra")) GTEST_SKIP() << "MPICH (Debian: mpich) is not installed";
  const Folder folder;
  write_images(folder, 40);
  const std::string expected = one_run(folder, "one.csv");
  Call call = batch_call({folder.path("in"), "-o", folder.path("r.csv")});
  call.program = "mpiexec.hydra";
  call.arguments.insert(call.arguments.begin(), {"-n", "3", test::program()});
  const Finished finished = run(call);
  ASSERT_EQ(finished.status, 0) << finished.err;
  ASSERT_TRUE(fs::exists(folder.path("r-00002-of-00003.csv")));
  ASSERT_EQ(run({"join", "-q", folder.path("r.csv")}).status, 0);
  EXPECT_EQ(read_file(folder.path("r.csv")), expected);
}

/// Runs a shell script in a Slurm cluster made for it; `vit` in it is the program.
Finished under_slurm(const Folder& folder, const std::string& script) {
  Call call;
  call.program = (test::source_dir() / "tests/tools/batch/with_slurm.sh").string();
  call.arguments = {folder.path("slurm"), "bash", "-euc",
                    "cd '" + folder.path() + "'; PATH='" +
                        fs::path(test::program()).parent_path().string() + "':$PATH; " + script};
  return run(call);
}

TEST(Shards, RunUnderSlurm) {
  const Folder folder;
  write_images(folder, 40);
  const std::string expected = one_run(folder, "one.csv");
  const std::string batch = "vit batch -m " + golden("hf_vit") + " -k 2 " + folder.path("in");
  const auto submit = [&](const std::string& options, const std::string& command) {
    return "sbatch -Q -W -o log-%j-%t.txt " + options + " --wrap '" + command + "'; ";
  };
  const Finished finished =
      under_slurm(folder, "srun -n 3 " + batch + " -o tasks.csv; " +
                              submit("--array=1-5:2", batch + " -o array.csv") +
                              submit("--array=0-1 -n 2", "srun " + batch + " -o both.csv") +
                              submit("-n 2", batch + " -o script.csv"));
  if (finished.status == 77) GTEST_SKIP() << finished.err;
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("vit: part 2 of 3, counted from 0, by SLURM_PROCID; "
                                      "--shards 1 takes everything\n"));
  for (const std::string name : {"tasks", "array", "both"}) {
    const Finished merged = run({"join", folder.path(name + ".csv")});
    ASSERT_EQ(merged.status, 0) << merged.err;
    EXPECT_THAT(merged.err, HasSubstr(name == "both" ? "of 4 shards" : "of 3 shards"));
    EXPECT_EQ(read_file(folder.path(name + ".csv")), expected) << name;
  }
  EXPECT_EQ(read_file(folder.path("script.csv")), expected) << "the script runs once";
}

TEST(Shards, RunUnderGnuParallel) {
  if (!on_path("parallel")) GTEST_SKIP() << "GNU parallel (Debian: parallel) is not installed";
  const Folder folder;
  write_images(folder, 40);
  const std::string expected = one_run(folder, "one.jsonl");
  Call call;
  call.program = "parallel";
  call.arguments = {"--will-cite", "-j", "2", test::program()};
  for (const auto& word : batch_arguments({folder.path("in"), "-o", folder.path("r.jsonl")}))
    call.arguments.push_back(word);
  call.arguments.insert(call.arguments.end(), {"--shard", "{}/4", ":::", "0", "1", "2", "3"});
  call.environment = {"PARALLEL_HOME=" + folder.path("parallel")};
  const Finished finished = run(call);
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Finished merged = run({"join", folder.path("r.jsonl")});
  ASSERT_EQ(merged.status, 0) << merged.err;
  EXPECT_EQ(read_file(folder.path("r.jsonl")), expected);
}

TEST(Merge, RefusesWhatIsNotTheWhole) {
  const Folder folder;
  write_images(folder, 20);
  std::vector<std::string> files;
  for (size_t i = 0; i < 3; ++i) files.push_back(shard(folder, "r.csv", i, 3));
  const auto message = [&] {
    const Finished finished = run({"join", folder.path("r.csv")});
    EXPECT_EQ(finished.status, 1);
    EXPECT_FALSE(fs::exists(folder.path("r.csv"))) << "half a result was written";
    return finished.err;
  };
  const std::string marker = read_file(files[1] + ".done"), rows = read_file(files[1]);

  fs::rename(files[1], folder.path("away"));
  EXPECT_THAT(message(), HasSubstr("r.csv: of its 3 shards these are missing: 1\n"));
  fs::rename(folder.path("away"), files[1]);

  fs::remove(files[1] + ".done");
  EXPECT_THAT(message(), HasSubstr(files[1] + ": this shard is not complete: there is no "
                                              "r-00001-of-00003.csv.done"));
  folder.write("r-00001-of-00003.csv.done", marker);

  folder.write("r-00001-of-00003.csv", rows.substr(0, rows.rfind('\n', rows.size() - 2) + 1));
  EXPECT_THAT(message(), HasSubstr("but its marker says"));
  folder.write("r-00001-of-00003.csv", read_file(files[0]));
  folder.write("r-00001-of-00003.csv.run.json", read_file(files[0] + ".run.json"));
  EXPECT_THAT(message(), HasSubstr("is shard 0 of 3 by its header; was it renamed?"));

  shard(folder, "r.csv", 1, 3, {"-k", "1", "--restart"});
  EXPECT_THAT(message(), HasSubstr(files[1] + ": has other options than " + files[0] +
                                   ": options.top is 2 in the file, 1 now"));
  shard(folder, "r.csv", 1, 3, {"--restart"});
  EXPECT_EQ(read_file(files[1]), rows);

  folder.write("in/new.bmp", image_bytes());
  shard(folder, "r.csv", 1, 3);
  EXPECT_THAT(message(), HasSubstr(": was made from another listing than "));
  for (size_t i = 0; i < 3; ++i) shard(folder, "r.csv", i, 3);
  EXPECT_EQ(run({"join", folder.path("r.csv")}).status, 0);
  EXPECT_EQ(read_file(folder.path("r.csv")), one_run(folder, "one.csv"));
}

/// However damaged headers and markers are, the message names the file and comes at once.
TEST(Merge, RefusesHeadersAndMarkersThatMakeNoSense) {
  const Folder folder;
  write_images(folder, 6);
  const std::string file = shard(folder, "r.jsonl", 0, 1), name = "r-00000-of-00001.jsonl";
  const std::string summed = read_file(file + ".run.json");
  const std::string rows = summed.substr(0, summed.find(",\"crc32\"")) + "}\n",
                    marker = read_file(file + ".done");
  const auto message = [&] {
    const Finished finished = run({"join", folder.path("r.jsonl")});
    EXPECT_EQ(finished.status, 1);
    if (!test::kAddressSanitizer) {
      EXPECT_LT(finished.peak_bytes, size_t{100} << 20);
    }
    return finished.err;
  };
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = rows;
    text.replace(text.find(from), from.size(), to);
    folder.write(name + ".run.json", text);
    return message();
  };
  EXPECT_EQ(with("\"top\":2", "\"top\":4000000000"),
            "vit: " + file + ": its header is damaged: options.top is 4000000000\n");
  EXPECT_EQ(with("\"top\":2", "\"top\":\"many\""),
            "vit: " + file + ": its header is damaged: options.top is \"many\"\n");
  EXPECT_EQ(with("\"top\":2", "\"shape\":[4000000000,4000000000]"),
            "vit: " + file + ": its header is damaged: options.shape is [4000000000,4000000000]\n");
  EXPECT_EQ(with("\"options\":{", "\"options\":[{}],\"more\":{"),
            "vit: " + file + ": its header is damaged: options is [{}]\n");
  EXPECT_EQ(with("\"index\":0", "\"index\":[]"),
            "vit: " + file + ": is not the file of a shard: its header names none\n");
  EXPECT_EQ(with("{", "7,{"),
            "vit: " + file +
                ": its header is damaged, it is not a JSON object; start again with "
                "--restart\n");
  folder.write(name + ".run.json", rows);
  for (const auto* damaged : {"", "[1,", "7", "[]", R"({"rows":"6","listed":6})",
                              R"({"rows":6,"listed":-1})", R"({"rows":6})"}) {
    folder.write(name + ".done", damaged);
    EXPECT_EQ(message(), "vit: " + file + ".done: damaged; run the shard's command again\n");
  }
  folder.write(name + ".done", marker);
  EXPECT_EQ(run({"join", folder.path("r.jsonl")}).status, 0);
}

TEST(Merge, RefusesAShardWhoseRowsWereChanged) {
  const Folder folder;
  write_images(folder, 6);
  const std::string file = shard(folder, "r.csv", 0, 1);
  std::string text = read_file(file);
  text.replace(text.find(",ok,,"), 5, ",ok,x");
  folder.write("r-00000-of-00001.csv", text);
  const Finished merged = run({"join", folder.path("r.csv")});
  EXPECT_EQ(merged.status, 1);
  EXPECT_THAT(merged.err, HasSubstr(" not what was written, by the checksums in "
                                    "r-00000-of-00001.csv.sums; "));
  EXPECT_FALSE(fs::exists(folder.path("r.csv")));
}

/// Runs as a user who can read everything but write only where everybody can: root always could.
Finished run_as_reader(std::vector<std::string> arguments) {
  Call call;
  call.arguments = std::move(arguments);
  if (geteuid() == 0) {
    call.program = "setpriv";
    call.arguments.insert(call.arguments.begin(),
                          {"--reuid=65534", "--regid=65534", "--clear-groups", test::program()});
  }
  return run(call);
}

TEST(Merge, NeedsNoWriteAccessToItsShards) {
  if (run_as_reader({"--version"}).status != 0)
    GTEST_SKIP() << "the program cannot be run as another user here";
  for (const std::string name : {"r.csv", "r.jsonl", "r.db", "f.npy"}) {
    const Folder folder;
    write_images(folder, 9);
    for (const auto* shard : {"0/2", "1/2"})
      ASSERT_EQ(run_into(folder, "shards-" + name, {"--shard", shard}).status, 0);
    const std::string joined = folder.path("out/" + name);
    folder.write("shards/x", "");
    folder.write("out/x", "");
    fs::remove(folder.path("shards/x"));
    const std::string stem = "shards-" + name.substr(0, 1) + "-";
    for (const auto& entry : fs::directory_iterator(folder.path()))
      if (entry.path().filename().string().starts_with(stem)) {
        fs::permissions(entry.path(), fs::perms(0444));
        fs::rename(entry.path(), folder.path("shards") / entry.path().filename());
      }
    for (const auto* place : {"", "shards"}) fs::permissions(folder.path(place), fs::perms(0555));
    fs::permissions(folder.path("out"), fs::perms(0777));
    const Finished merged =
        run_as_reader({"join", folder.path("shards/shards-" + name), "-o", joined});
    EXPECT_EQ(merged.status, 0) << name << ": " << merged.err;
    for (const auto* place : {"", "shards"}) fs::permissions(folder.path(place), fs::perms(0777));
    ASSERT_EQ(run_into(folder, name).status, 0);
    EXPECT_EQ(content_of(joined), content_of(folder.path(name))) << name;
  }
}

TEST(Merge, ExplainsItsUse) {
  const Folder folder;
  EXPECT_EQ(run({"join"}).status, 2);
  const Finished none = run({"join", folder.path("r.csv")});
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, HasSubstr(": there are no shards of this name, expected files such as " +
                                  folder.path("r-00000-of-00004.csv")));
}

}  // namespace
}  // namespace vit::tools
