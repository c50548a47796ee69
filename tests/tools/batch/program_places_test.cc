/// Where `vit batch` and `vit join` write: links, closed streams, other people's files, leftovers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/paths.h"
#include "tests/tools/batch/batch_call.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

Finished in_shell(const std::string& more) {
  Call call;
  call.program = "sh";
  call.arguments = {"-c", std::string(test::program()) + " " + more};
  return run(call);
}

TEST(Places, MessagesNeverGoIntoTheResults) {
  const Folder folder;
  folder.write("in/a.bmp", image_bytes());
  for (const auto* closed : {"0<&- 2>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"}) {
    const std::string output = folder.path("r.csv");
    fs::remove(output);
    fs::remove(output + ".sums");
    EXPECT_EQ(in_shell("batch -m " + golden("hf_vit") + " " + folder.path("in") + " -o " + output +
                       " " + closed)
                  .status,
              0);
    EXPECT_THAT(read_file(output), Not(HasSubstr("vit: "))) << closed;
  }
}

TEST(Places, ALinkIsTheFileItLeadsTo) {
  const Folder folder;
  write_images(folder, 8);
  const std::string real = folder.path("real.csv"), link = folder.path("link.csv");
  fs::create_symlink("real.csv", link);
  ASSERT_EQ(run_into(folder, "link.csv").status, 0);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_TRUE(fs::exists(real + ".sums"));
  EXPECT_FALSE(fs::exists(link + ".sums"));
  // A failed row is repaired through one name; the other one still reads the file.
  folder.write("in/006.bmp", image_bytes());
  ASSERT_EQ(run_into(folder, "link.csv", {"--retry-failed"}).status, 0);
  EXPECT_TRUE(fs::is_symlink(link)) << "the link stays";
  EXPECT_THAT(read_file(real), Not(HasSubstr(",failed,")));
  EXPECT_EQ(run_into(folder, "real.csv").status, 0);
  EXPECT_EQ(run_into(folder, "link.csv").status, 0);
}

TEST(Places, ARowThatFailedTwiceIsTriedOnceMoreWhenItsFileIsRepaired) {
  const Folder folder;
  folder.write("in/a.bmp", "no image");
  EXPECT_EQ(run_into(folder, "r.csv").status, 1);
  // As left by a retry that was killed before its rows replaced the failed ones.
  EXPECT_EQ(run_into(folder, "again.csv").status, 1);
  fs::rename(folder.path("again.csv"), folder.path("r.csv.retry"));
  fs::rename(folder.path("again.csv.run.json"), folder.path("r.csv.retry.run.json"));
  fs::rename(folder.path("again.csv.sums"), folder.path("r.csv.retry.sums"));
  folder.write("in/a.bmp", image_bytes());
  const Finished retried = run_into(folder, "r.csv", {"--retry-failed"});
  EXPECT_EQ(retried.status, 0) << retried.err;
  EXPECT_THAT(read_file(folder.path("r.csv")), HasSubstr(",ok,"));
  EXPECT_FALSE(fs::exists(folder.path("r.csv.retry")));
}

TEST(Places, ANewStartForgetsTheRetryOfTheRunBefore) {
  const Folder folder;
  folder.write("in/a.bmp", image_bytes());
  ASSERT_EQ(run_into(folder, "r.csv").status, 0);
  fs::copy_file(folder.path("r.csv"), folder.path("r.csv.retry"));
  ASSERT_EQ(run_into(folder, "r.csv", {"--restart"}).status, 0);
  EXPECT_FALSE(fs::exists(folder.path("r.csv.retry")));
  fs::copy_file(folder.path("r.csv"), folder.path("r.csv.retry"));
  ASSERT_EQ(run_into(folder, "r.csv", {"--retry-failed"}).status, 0);
  EXPECT_FALSE(fs::exists(folder.path("r.csv.retry"))) << "no row has failed";
}

TEST(Places, JoinReplacesNeitherAShardNorAForeignFile) {
  const Folder folder;
  folder.write("in/a.bmp", image_bytes());
  for (const auto* shard : {"0/2", "1/2"})
    ASSERT_EQ(run_into(folder, "r.csv", {"--shard", shard}).status, 0);
  const std::string first = folder.path("r-00000-of-00002.csv"), before = read_file(first);
  const Finished shard = run({"join", folder.path("r.csv"), "-o", first});
  EXPECT_EQ(shard.status, 2);
  EXPECT_THAT(shard.err,
              HasSubstr("option '--output' got '" + first + "', which is one of the shards"));
  EXPECT_EQ(read_file(first), before);
  folder.write("thesis.csv", "my thesis\n");
  EXPECT_EQ(run({"join", folder.path("r.csv"), "-o", folder.path("thesis.csv")}).status, 1);
  EXPECT_EQ(read_file(folder.path("thesis.csv")), "my thesis\n");
  EXPECT_EQ(run({"join", folder.path("r.csv")}).status, 0);
  EXPECT_EQ(run({"join", folder.path("r.csv")}).status, 0) << "its own file is replaced";
}

TEST(Places, AnOutputIsNeverAnInput) {
  const Folder folder;
  folder.write("in/a.bmp", image_bytes());
  const std::string in = folder.path("in");
  const auto refused = [&](const std::string& file, const std::string& content,
                           const std::vector<std::string>& words) {
    folder.write(file, content);
    std::vector<std::string> more = words;
    more.insert(more.end(), {"-o", folder.path(file)});
    const Finished done = batch(more);
    EXPECT_EQ(done.status, 2) << done.err;
    EXPECT_THAT(done.err, HasSubstr(folder.path(file) + ": the output would overwrite the input"));
    EXPECT_EQ(read_file(folder.path(file)), content);
  };
  refused("md.json", R"({"images": [{"file": "a.bmp", "detections": []}]})",
          {in, "--boxes", folder.path("md.json")});
  refused("list.csv", folder.path("in/a.bmp") + "\n", {"@" + folder.path("list.csv")});
  refused("groups.csv", "first = 0\n", {in, "--groups", folder.path("groups.csv")});
  const std::string list = folder.write("list.txt", folder.path("in/a.bmp") + "\n");
  const Finished index = run({"index", "-m", golden("hf_vit"), "@" + list, "-o", list});
  EXPECT_EQ(index.status, 2);
  EXPECT_THAT(index.err, HasSubstr("the output would overwrite the input"));
  EXPECT_EQ(run_into(folder, "r.csv").status, 0);
  EXPECT_EQ(run_into(folder, "r.csv").status, 0) << "its own rows are no input";
}

TEST(Places, ARefusedCommandLeavesAShardComplete) {
  const Folder folder;
  folder.write("in/a.bmp", image_bytes());
  ASSERT_EQ(run_into(folder, "r.csv", {"--shard", "0/1"}).status, 0);
  EXPECT_EQ(run_into(folder, "r.csv", {"--shard", "0/1", "--min-probability", "0.3"}).status, 1);
  EXPECT_TRUE(fs::exists(folder.path("r-00000-of-00001.csv.done")));
  EXPECT_EQ(run({"join", folder.path("r.csv")}).status, 0);
}

#ifndef __SANITIZE_ADDRESS__  // which must be the first library of a program
TEST(Output, OfANewNameIsOnTheDiskAsSoonAsItHasRows) {
  for (const std::string name : {"r.csv", "r.jsonl", "r.db", "f.npy"}) {
    const Folder folder;
    write_images(folder, 3);
    folder.write("out/x", "");
    const std::string log = folder.path("log");
    Call call = batch_call({folder.path("in"), "-o", folder.path("out/" + name)});
    if (name == "f.npy")
      call.arguments = {"embed",           "-m", golden("hf_vit"),          "-q",
                        folder.path("in"), "-o", folder.path("out/" + name)};
    call.environment = {"LD_PRELOAD=" VIT_LOGGED_SYNCS, "VIT_SYNC_LOG=" + log};
    ASSERT_EQ(run(call).status, 0);
    EXPECT_THAT(read_file(log), testing::HasSubstr(fs::canonical(folder.path("out")).string()))
        << name;
  }
}
#endif

}  // namespace
}  // namespace vit::tools
