/// Ctrl-C and SIGTERM: images in work are finished, the run does not claim to be complete, and
/// nothing blocks.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/support/paths.h"
#include "tests/tools/batch/batch_call.h"
#include "tests/tools/batch/tar_builder.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::MatchesRegex;

constexpr std::chrono::seconds kPatience{120};  // for a machine with other work

bool has_bytes(const std::string& path) {
  std::error_code missing;
  const auto size = fs::file_size(path, missing);
  return !missing && size != 0;
}

void wait_for_file(const std::string& path) {
  for (int i = 0; i < 6000 && !has_bytes(path); ++i) std::this_thread::sleep_for(milliseconds(10));
}

/// A run stores its options before its first row; rows on standard output come without them.
void wait_for_begin(const std::string& rows) {
  for (int i = 0; i < 6000 && !has_bytes(rows + ".run.json") && !has_bytes(rows); ++i)
    std::this_thread::sleep_for(milliseconds(10));
}

/// Images that take a while each, all of them listed before the first is done.
constexpr size_t kImages = 8;
void write_large_images(const Folder& folder) {
  const std::string image = photograph(1800, 1800, 3);
  for (size_t i = 0; i < kImages; ++i) folder.write("in/" + std::to_string(i) + ".png", image);
}

/// Sends the signal when everything is listed and little is done. Tries again if the run was done
/// before it came.
Finished stopped_during_rows(const Call& call, const std::string& grows, int signal) {
  Finished finished;
  for (int i = 0; i < 20; ++i) {
    for (const auto* ending : {"", ".done", ".run.json"}) fs::remove(grows + ending);
    if (grows.ends_with(".npy.jsonl")) fs::remove(grows.substr(0, grows.size() - 6));
    Running running(call);
    wait_for_begin(grows);
    std::this_thread::sleep_for(milliseconds(30));
    running.send(signal);
    if (!running.ends_within(kPatience)) throw std::runtime_error("a signal did not end it");
    finished = running.wait();
    // A signal between the end of the run and that of the process ends it without a message.
    if (finished.status != 0 && !finished.err.empty()) return finished;
  }
  return finished;
}

TEST(Stop, AfterEverythingWasListedIsNotSuccess) {
  const Folder folder;
  write_large_images(folder);
  const std::string in = folder.path("in");
  for (const int signal : {SIGINT, SIGTERM})
    for (const auto* format : {"csv", "jsonl", "npy"}) {
      const std::string output = folder.path("r." + std::string(format));
      const std::string grows = output + (*format == 'n' ? ".jsonl" : "");
      Call call = batch_call({in, "-o", output, "--threads", "1", "--batch", "1000"});
      if (*format == 'n') {
        call.arguments.front() = "embed";
        std::erase(call.arguments, "-k");
        std::erase(call.arguments, "2");
      }
      const Finished finished = stopped_during_rows(call, grows, signal);
      EXPECT_EQ(finished.status, 128 + signal) << format;
      EXPECT_THAT(finished.err,
                  MatchesRegex("vit: stopped( after [0-7] rows?)?; run the same command "
                               "again to resume\n"));
      const Finished resumed = run(call);
      EXPECT_EQ(resumed.status, 0) << resumed.err;
      const std::string rows = read_file(grows);
      EXPECT_EQ(std::ranges::count(rows, '\n'), static_cast<long>(kImages) + (*format == 'c'));
    }
}

TEST(Stop, OfAShardLeavesNoMarker) {
  const Folder folder;
  write_large_images(folder);
  const Call call = batch_call({folder.path("in"), "-o", folder.path("r.csv"), "--threads", "1",
                                "--batch", "1000", "--shard", "0/1"});
  const std::string file = folder.path("r-00000-of-00001.csv");
  EXPECT_EQ(stopped_during_rows(call, file, SIGTERM).status, 143);
  EXPECT_FALSE(fs::exists(file + ".done"));
  const Finished merged = run({"join", folder.path("r.csv")});
  EXPECT_EQ(merged.status, 1);
  EXPECT_THAT(merged.err, HasSubstr("this shard is not complete"));
  EXPECT_EQ(run(call).status, 0);
  EXPECT_TRUE(fs::exists(file + ".done"));
}

TEST(Stop, OfRowsOnStandardOutputDoesNotPromiseToResume) {
  const Folder folder;
  write_large_images(folder);
  Call call = batch_call({folder.path("in"), "-o", "-", "--threads", "1", "--batch", "1000"});
  call.output_to = folder.path("out");
  const Finished finished = stopped_during_rows(call, call.output_to, SIGINT);
  EXPECT_EQ(finished.status, 130);
  EXPECT_THAT(finished.err, MatchesRegex("vit: stopped after [0-7] rows?; the rest is missing\n"));
}

TEST(Stop, EndsTheWaitForAReaderWhoDoesNotRead) {
  const Folder folder;
  write_images(folder, 60);
  Call call = batch_call({folder.path("in"), "-o", "-"});
  for (const int signal : {SIGTERM, SIGINT}) {
    call.output_to = folder.path("rows" + std::to_string(signal));
    ASSERT_EQ(mkfifo(call.output_to.c_str(), 0600), 0);
    const int reader = open(call.output_to.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(fcntl(reader, F_SETPIPE_SZ, 65536), 65536);
    for (int i = 0; i < 14; ++i)  // leaves room for two pages
      ASSERT_EQ(write(reader, std::string(4096, '#').data(), 4096), 4096);
    Running running(call);
    pollfd full{reader, POLLOUT, 0};
    for (int i = 0; i < 6000 && poll(&full, 1, 0) != 0; ++i)
      std::this_thread::sleep_for(milliseconds(10));
    running.send(signal);
    ASSERT_TRUE(running.ends_within(kPatience)) << "waits for its reader";
    const Finished finished = running.wait();
    EXPECT_EQ(finished.status, 128 + signal);
    EXPECT_EQ(finished.err, "vit: stopped; standard output is not read, the rest is missing\n");
    close(reader);
  }
}

TEST(Stop, EndsTheWaitForMemory) {
  const Folder folder;
  write_large_images(folder);
  // Memory suffices for one image at a time; all others are started and wait.
  const Call call = batch_call({folder.path("in"), "-o", folder.path("r.jsonl"), "--threads", "8",
                                "--batch", "1000", "--max-pixels", "3240000"});
  const Finished finished = stopped_during_rows(call, folder.path("r.jsonl"), SIGTERM);
  EXPECT_EQ(finished.status, 143) << finished.err;
  EXPECT_LT(rows_of(read_file(folder.path("r.jsonl"))).size(), kImages);
  EXPECT_EQ(run(call).status, 0);
  EXPECT_EQ(rows_of(read_file(folder.path("r.jsonl"))).size(), kImages);
}

TEST(Stop, OfARetryResumesWithTheRowsItHas) {
  const Folder folder;
  for (size_t i = 0; i < kImages; ++i) folder.write("in/" + std::to_string(i) + ".png", "");
  folder.write("in/good.png", photograph(10, 10, 1));
  const std::string output = folder.path("r.csv");
  const Call plain = batch_call({folder.path("in"), "-o", output, "--threads", "1"});
  ASSERT_EQ(run(plain).status, 0);
  write_large_images(folder);
  Call retry = plain;
  retry.arguments.push_back("--retry-failed");
  retry.arguments.insert(retry.arguments.end(), {"--batch", "1000"});
  Running running(retry);
  wait_for_file(output + ".retry");
  running.send(SIGTERM);
  ASSERT_TRUE(running.ends_within(kPatience));
  const Finished finished = running.wait();
  EXPECT_EQ(finished.status, 143) << finished.err;
  EXPECT_THAT(finished.err, MatchesRegex("vit: stopped( after [0-8] rows?)?; run the same command "
                                         "again to resume\n"));
  const Finished resumed = run(retry);
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(read_file(output), testing::Not(HasSubstr(",failed,")));
}

TEST(Stop, EndsAWaitForNamesThatDoNotCome) {
  const Folder folder;
  const std::string fifo = folder.path("names");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  Call without_writer = batch_call({"@" + fifo, "-o", folder.path("a.csv")});
  Call idle = batch_call({"-", "-o", folder.path("b.csv")});
  idle.program = "sh";
  idle.arguments.insert(idle.arguments.begin(),
                        {"-c", "exec \"$0\" \"$@\" <" + fifo, test::program()});
  {
    Running running(without_writer);
    wait_for_file(folder.path("a.csv"));
    running.send(SIGTERM);
    ASSERT_TRUE(running.ends_within(kPatience)) << "waits for a reader to open the pipe";
    EXPECT_EQ(running.wait().status, 143);
  }
  const int writer = open(fifo.c_str(), O_RDWR | O_CLOEXEC);
  Running running(idle);
  wait_for_file(folder.path("b.csv"));
  running.send(SIGINT);
  EXPECT_TRUE(running.ends_within(kPatience)) << "waits for names";
  EXPECT_EQ(running.wait().status, 130);
  close(writer);
}

TEST(Stop, BySecondSignalOfAnyKindEndsAtOnce) {
  const Folder folder;
  folder.write("in/large.png", photograph(6000, 4000, 5));
  const std::string output = folder.path("r.csv");
  Finished finished;
  // Tries again if the image was not started at the first signal, or finished before the second.
  for (int i = 0; i < 20 && finished.status != 128 + SIGTERM; ++i) {
    fs::remove(output);
    Running running(batch_call({folder.path("in"), "-o", output}));
    wait_for_file(output);
    std::this_thread::sleep_for(milliseconds(100));
    running.send(SIGINT);
    std::this_thread::sleep_for(milliseconds(1));
    running.send(SIGTERM);
    ASSERT_TRUE(running.ends_within(kPatience));
    finished = running.wait();
    EXPECT_THAT(finished.status, testing::AnyOf(0, 128 + SIGINT, 128 + SIGTERM));
  }
  EXPECT_EQ(finished.status, 128 + SIGTERM);
  EXPECT_EQ(finished.err, "") << "reported late that it is stopped";
}

TEST(Stop, IsNotNeededForArchivesMadeToBeEndless) {
  const Folder folder;
  const std::uint64_t size = 0 - std::uint64_t{512};
  const std::string hang = folder.write("hang.tar", lying_member("x", size, '3') + tar_end());
  const std::string rows = folder.write("rows.tar", lying_member("x.jpg", size) + tar_end());
  for (const auto& archive : {hang, rows}) {
    Running running(batch_call({archive, "-o", "-"}));
    ASSERT_TRUE(running.ends_within(kPatience)) << archive;
    const Finished finished = running.wait();
    EXPECT_EQ(finished.status, 1);
    const auto found = rows_of(finished.out);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0]["path"], archive);
    EXPECT_EQ(found[0]["reason"], "this tar archive is truncated: no whole member at byte 0");
  }
}

}  // namespace
}  // namespace vit::tools
