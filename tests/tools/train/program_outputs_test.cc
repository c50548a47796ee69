// vit train and existing files: none is lost, and two runs do not share one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/tools/train/train_call.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<std::string> probe(const Folder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"train",  folder.path("data"),
                                     "-o",     folder.path("m.safetensors"),
                                     "--from", golden("timm_vit")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(TrainOutputs, AnExistingModelIsOverwrittenOnlyWhereThatIsAskedFor) {
  const Folder folder;
  write_pictures(folder.path("data"), 4);
  const std::string path = folder.write("m.safetensors", "another model");
  const std::string message = "vit: " + path + ": exists already; --restart overwrites it\n";
  for (const auto& arguments :
       {probe(folder, {}), probe(folder, {"--finetune"}), train(folder, {})}) {
    const Finished refused = run(arguments);
    EXPECT_EQ(refused.status, 1);
    EXPECT_EQ(refused.err, message);
    EXPECT_EQ(read_file(path), "another model");
  }
  const Finished restarted = run(probe(folder, {"--restart"}));
  EXPECT_EQ(restarted.status, 0) << restarted.err;
  EXPECT_NE(read_file(path), "another model");
}

TEST(TrainOutputs, TheModelThatIsLearnedFromIsNotOverwritten) {
  const Folder folder;
  write_pictures(folder.path("data"), 4);
  const std::string path = folder.path("m.safetensors");
  ASSERT_EQ(run({"convert", golden("timm_vit"), path}).status, 0);
  const std::string before = read_file(path);
  for (const char* option : {"--from", "--teacher"}) {
    std::vector<std::string> arguments{"train", folder.path("data"), "-o", path, "--restart"};
    arguments.insert(arguments.end(), {option, path});
    const Finished refused = run(arguments);
    EXPECT_EQ(refused.status, 2) << option;
    EXPECT_EQ(refused.err, "vit: " + path + ": the output would overwrite the input " + path +
                               "; give another name\nvit: see 'vit train --help'\n");
    EXPECT_EQ(read_file(path), before);
  }
}

TEST(TrainOutputs, AFullDiskLeavesModelAndCheckpointOfBefore) {
  const Folder folder;
  write_pictures(folder.path("data"), 8);
  ASSERT_EQ(run(train(folder, {})).status, 0);
  const std::string path = folder.path("m.safetensors");
  const std::string checkpoint = read_file(path + ".checkpoint"), model = read_file(path);
  Call call;
  call.arguments = train(folder, {"--save-every", "0", "--seed", "9", "--restart"});
  call.largest_file = checkpoint.size() / 2;
  const Finished finished = run(call);
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.err, "vit: " + path +
                              ".checkpoint: cannot write: File too large; the checkpoint before "
                              "it is kept\n");
  EXPECT_EQ(read_file(path + ".checkpoint"), checkpoint);
  EXPECT_EQ(read_file(path), model);
}

/// Until the first epoch is in the log, or a while has passed.
void wait_for(const fs::path& file) {
  for (int i = 0; i < 12'000 && !fs::exists(file); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

TEST(TrainOutputs, TwoRunsDoNotShareAnOutput) {
  const Folder folder;
  write_pictures(folder.path("data"), 8);
  Call call;
  call.arguments = train(folder, {"--epochs", "100000"});
  Running first(call);
  wait_for(folder.path("m.safetensors.csv"));
  for (const char* option : {"--resume", "--restart"}) {
    const Finished second = run(train(folder, {"--epochs", "100000", option}));
    EXPECT_EQ(second.status, 1);
    EXPECT_EQ(second.err, "vit: " + folder.path("m.safetensors") +
                              ": another vit is writing this file; wait for it, or end it\n");
  }
  first.send(SIGKILL);
  EXPECT_EQ(first.wait().status, 128 + SIGKILL);
  EXPECT_EQ(run(train(folder, {"--epochs", "1", "--restart"})).status, 0)
      << "the lock of a killed run is released";
}

TEST(TrainOutputs, ResumingWritesTheLogAndCurvesThatAKillPrevented) {
  const Folder folder;
  write_pictures(folder.path("data"), 8);
  ASSERT_EQ(run(train(folder, {})).status, 0);
  const std::string path = folder.path("m.safetensors");
  EXPECT_THAT(read_file(path + ".eval/index.html"),
              HasSubstr("<img alt=\"Loss, accuracy and learning rate by epoch\""));
  const std::string log = read_file(path + ".csv"), curves = read_file(path + ".png");
  // As a kill leaves them between the last checkpoint and the log.
  folder.write("m.safetensors.csv", log.substr(0, log.rfind('\n', log.size() - 2) + 1));
  fs::remove(path + ".png");
  folder.write("m.safetensors.eval/.vit-0123456789abcdef.tmp", "half a page");
  const Finished resumed = run(train(folder, {"--resume"}));
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(read_file(path + ".csv"), log);
  EXPECT_TRUE(read_file(path + ".png") == curves);
  EXPECT_FALSE(fs::exists(path + ".eval/.vit-0123456789abcdef.tmp"));
}

}  // namespace
}  // namespace vit::tools
