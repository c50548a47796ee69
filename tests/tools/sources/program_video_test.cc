/// vit batch --every, and frames as inputs of other commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/tools/sources/video_maker.h"
#include "tests/tools/subprocess.h"

namespace vit::tools {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

std::vector<std::string> command(const std::string& name, std::vector<std::string> more) {
  std::vector<std::string> arguments{name, "-m", golden("hf_vit")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::vector<std::string> paths_in(const std::string& csv, const std::string& folder) {
  std::vector<std::string> paths;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);)
    if (const size_t at = line.find(folder + "/"); at != line.npos && line[0] != '#') {
      line.erase(0, at + folder.size() + 1);
      paths.push_back(line.substr(0, line.find(',')));
    }
  return paths;
}

TEST(Videos, AreRowsOfTheirFrames) {
  const Folder folder;
  write_video(folder.path("in/clip.mp4"), {.brightness = {60, 120, 200}});
  const std::string output = folder.path("out.csv");
  const Finished done =
      run(command("batch", {folder.path("in"), "-o", output, "--every", "1s", "-k", "1"}));
  EXPECT_EQ(done.status, 0) << done.err;
  const std::string rows = read_file(output);
  EXPECT_THAT(paths_in(rows, folder.path("in")),
              testing::ElementsAre("clip.mp4#t=0.0", "clip.mp4#t=1.0", "clip.mp4#t=2.0"));
  // The same command has nothing to do, a closer step only what is between.
  EXPECT_THAT(
      run(command("batch", {folder.path("in"), "-o", output, "--every", "1s", "-k", "1"})).err,
      HasSubstr("3 rows, nothing was left to do"));
  EXPECT_EQ(read_file(output), rows);
  EXPECT_THAT(
      run(command("batch", {folder.path("in"), "-o", output, "--every", "500ms", "-k", "1"})).err,
      HasSubstr("6 rows"));
}

TEST(Videos, ThatHaveChangedAreNoticed) {
  const Folder folder;
  write_video(folder.path("in/clip.mp4"), {.brightness = {60, 120}});
  auto arguments =
      command("batch", {folder.path("in"), "-o", folder.path("out.csv"), "--every", "1s"});
  ASSERT_EQ(run(arguments).status, 0);
  write_video(folder.path("in/clip.mp4"), {.brightness = {200, 90}});
  EXPECT_THAT(run(arguments).err, HasSubstr("2 files have changed since"));
  arguments.push_back("--changed");
  EXPECT_THAT(run(arguments).err, HasSubstr("processing 2 changed files again\n"));
  EXPECT_THAT(run(arguments).err, testing::Not(HasSubstr("changed")));
}

TEST(Videos, ThatNeedTooMuchMemoryDoNotEndTheRun) {
  const Folder folder;
  write_video(folder.path("in/a.mp4"), {.brightness = {60, 120}});
  write_video(folder.path("in/b.mp4"), {.brightness = {60}});
  std::string bytes = read_file(folder.path("in/a.mp4"));
  const size_t table = bytes.find("stts");  // how long the pictures are shown
  ASSERT_NE(table, bytes.npos);
  bytes.replace(table + 8, 4, "\x7f\xff\xff\xff");
  folder.write("in/a.mp4", bytes);
  const std::string output = folder.path("out.csv");
  const Finished done =
      run(command("batch", {folder.path("in"), "-o", output, "--every", "1s", "-k", "1"}));
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("2 rows, 1 failed"));
  EXPECT_THAT(read_file(output), HasSubstr("a.mp4,failed,"));
}

TEST(Videos, AreSkippedAndCountedWithoutEvery) {
  const Folder folder;
  write_video(folder.path("in/clip.mp4"), {.brightness = {60}});
  std::filesystem::copy(golden_image("hf_vit"), folder.path("in/a.png"));
  EXPECT_THAT(run(command("batch", {folder.path("in"), "-o", folder.path("out.csv")})).err,
              HasSubstr("; skipped: 1 .mp4\n"));
  const Finished refused =
      run(command("batch", {folder.path("in/clip.mp4"), "-o", folder.path("b.csv")}));
  EXPECT_EQ(refused.status, 2);
  const std::string clip = folder.path("in/clip.mp4");
  EXPECT_THAT(refused.err,
              HasSubstr(clip + ": a video; vit batch --every 1s takes its frames, and " + clip +
                        "#t=12.0 is the one after 12 s\n"));
  EXPECT_THAT(run(command("classify", {clip})).err,
              HasSubstr("it is a video; save a frame: ffmpeg -i FILE -frames:v 1 out.png"));
  EXPECT_THAT(run(command("batch", {clip, "-o", folder.path("c.csv"), "--every", "often"})).err,
              HasSubstr("option '--every' got 'often', expected a time of 1ms to 11 days, such as "
                        "1s, 500ms, 2m or 1h\n"));
  EXPECT_THAT(run(command("batch", {clip, "-o", folder.path("c.csv"), "--every", "1s", "--copy-to",
                                    folder.path("sorted")}))
                  .err,
              HasSubstr("option '--copy-to' places files, but --every gives frames of videos\n"));
}

TEST(Videos, AFrameIsAnImageOfOtherCommands) {
  const Folder folder;
  write_video(folder.path("clip.mp4"), {.brightness = {60, 120, 200}});
  const std::string frame = folder.path("clip.mp4#t=1.0");
  const Finished classified = run(command("classify", {frame, "--json", "-k", "1"}));
  EXPECT_EQ(classified.status, 0) << classified.err;
  const Finished batched =
      run(command("batch", {frame, "-o", folder.path("out.jsonl"), "-k", "1", "--quiet"}));
  EXPECT_EQ(batched.status, 0) << batched.err;
  const std::string label =
      nlohmann::json::parse(classified.out)["images"][0]["predictions"][0]["label"];
  EXPECT_THAT(read_file(folder.path("out.jsonl")), HasSubstr('"' + label + '"'));
  const Finished drawn = run(command("attention", {frame, "-o", folder.path("map.png")}));
  EXPECT_EQ(drawn.status, 0) << drawn.err;
  EXPECT_THAT(run(command("classify", {folder.path("clip.mp4#t=99.0")})).err,
              EndsWith("clip.mp4#t=99.0: the video ends after 3.0 s\n"));
}

TEST(Videos, ThatAreDamagedAreARowAndTheOthersAreRead) {
  const Folder folder;
  write_video(folder.path("in/b.mp4"), {.brightness = {60, 120}});
  const std::string whole = read_file(folder.path("in/b.mp4"));
  folder.write("in/a.mp4", whole.substr(0, whole.find("moov")));
  const Finished done =
      run(command("batch", {folder.path("in"), "-o", folder.path("out.csv"), "--every", "1s"}));
  EXPECT_EQ(done.status, 0);
  EXPECT_THAT(done.err, HasSubstr("3 rows, 1 failed"));
  EXPECT_THAT(read_file(folder.path("out.csv")),
              HasSubstr("cannot read this video: Invalid data found when processing input"));
}

TEST(Videos, AStopEndsTheRunAndTheSameCommandResumes) {
  const Folder folder;
  write_video(folder.path("clip.mp4"),
              {.width = 640, .height = 480, .rate = 25, .each = 25 * 60, .brightness = {60, 120}});
  const auto arguments = command("batch", {folder.path("clip.mp4"), "-o", folder.path("out.csv"),
                                           "--every", "40ms", "--quiet", "-k", "1"});
  const Running running(
      {.arguments = arguments, .input = {}, .environment = {}, .output_to = {}, .program = {}});
  while (!std::filesystem::exists(folder.path("out.csv")) ||
         std::filesystem::file_size(folder.path("out.csv")) < 3000)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  running.send(SIGTERM);
  EXPECT_TRUE(running.ends_within(std::chrono::seconds(60)));
  EXPECT_LT(paths_in(read_file(folder.path("out.csv")), folder.path()).size(), 3000u);
  EXPECT_EQ(run(arguments).status, 0);
  const auto rows = paths_in(read_file(folder.path("out.csv")), folder.path());
  ASSERT_EQ(rows.size(), 3000u);
  EXPECT_EQ(rows.front(), "clip.mp4#t=0.0");
  EXPECT_EQ(rows.back(), "clip.mp4#t=119.96");
}

}  // namespace
}  // namespace vit::tools
