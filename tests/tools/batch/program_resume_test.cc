/// However a run ends, the same command continues it, with the result of an uninterrupted run.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

#include "tests/tools/batch/batch_call.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

const std::vector<std::string> kFormats{"csv", "jsonl", "db", "npy"};

/// One thread, so that a run lasts; features for .npy, classes for the others.
Call call_for(const std::string& input, const std::string& output,
              std::vector<std::string> more = {}) {
  more.insert(more.end(), {input, "-o", output, "--threads", "1"});
  Call call = batch_call(more);
  if (!output.ends_with(".npy")) return call;
  call.arguments.front() = "embed";
  std::erase(call.arguments, "-k");
  std::erase(call.arguments, "2");
  return call;
}

/// Everything that an output consists of.
std::string all_of(const std::string& output) {
  return content_of(output) + (output.ends_with(".npy") ? read_file(output + ".jsonl") : "");
}

void remove_output(const std::string& output) {
  for (const auto* ending : {"", ".jsonl", ".sums", ".jsonl.sums", "-wal", "-shm"})
    fs::remove(output + ending);
}

/// Until the output has grown, or a while has passed.
void wait_for_rows(const std::string& output) {
  const auto size = [&] {
    std::error_code none;
    const auto bytes = fs::file_size(output.ends_with(".db") ? output + "-wal" : output, none);
    return none ? 0 : bytes;
  };
  const auto before = size();
  for (int i = 0; i < 1000 && size() <= before + 2000; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(Resume, AfterFiftyKillsGivesTheResultOfAnUninterruptedRun) {
  const Folder folder;
  write_images(folder, 2000);
  // Large enough inputs that rows are flushed several times within a run, on a fast machine too.
  const auto call = [&](const std::string& output) {
    return call_for(folder.path("in"), output, {"--image-size", "224"});
  };
  std::mt19937 random(20240229);
  int killed = 0, between_rows = 0;
  for (const auto& format : kFormats) {
    const std::string calm = folder.path("calm." + format), output = folder.path("r." + format);
    ASSERT_EQ(run(call(calm)).status, 0);
    const std::string expected = all_of(calm);
    for (int kills = 0; kills < 13;) {
      Running running(call(output));
      if (kills % 2 == 0) wait_for_rows(output);
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 150'000));
      running.send(SIGKILL);
      const Finished finished = running.wait();
      if (finished.status == 128 + SIGKILL) {
        ++kills;
        ++killed;
        const auto there = fs::exists(output) ? read_file(output).size() : 0;
        between_rows += there > 2000 && there < read_file(calm).size() ? 1 : 0;
        continue;
      }
      ASSERT_EQ(finished.status, 0) << finished.err;
      ASSERT_EQ(all_of(output), expected) << format;
      remove_output(output);
    }
    const Finished finished = run(call(output));
    ASSERT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(all_of(output), expected) << format << " after kills";
  }
  EXPECT_EQ(killed, 52);
  EXPECT_GT(between_rows, 0) << "no kill came between the first row and the last";
}

TEST(Resume, KeepsExistingRows) {
  const Folder folder;
  write_images(folder, 20);
  const std::string output = folder.path("r.csv");
  ASSERT_EQ(run(call_for(folder.path("in"), output)).status, 0);
  const std::string whole = read_file(output);
  // A row that only the first run can have written shows that it was not written again.
  std::string marked = whole;
  marked.replace(marked.find("great white shark"), 17, "great white SHARK");
  folder.write("r.csv", marked.substr(0, marked.size() - 150));
  fs::remove(output + ".sums");
  ASSERT_EQ(run(call_for(folder.path("in"), output)).status, 0);
  EXPECT_EQ(read_file(output), marked);
}

TEST(Resume, AppendsNewInputsAndKeepsRowsOfRemovedOnes) {
  const Folder folder;
  write_images(folder, 6);
  const std::string output = folder.path("r.jsonl");
  ASSERT_EQ(run(call_for(folder.path("in"), output)).status, 0);
  fs::remove(folder.path("in/001.bmp"));
  folder.write("in/002a.bmp", image_bytes());
  Call call = call_for(folder.path("in"), output);
  std::erase(call.arguments, "--quiet");
  const Finished finished = run(call);
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(
      finished.err,
      HasSubstr("files were added or removed since the earlier run; all its rows are kept"));
  EXPECT_THAT(finished.err, HasSubstr("7 rows, 1 of a file that is no longer among the inputs"));
  const auto rows = rows_of(read_file(output));
  ASSERT_THAT(rows, SizeIs(7));
  EXPECT_EQ(rows[6]["path"], folder.path("in/002a.bmp"));
  std::set<std::string> paths;
  for (const auto& row : rows) paths.insert(row["path"]);
  EXPECT_THAT(paths, SizeIs(7));
}

TEST(Resume, RefusesOtherOptionsModelsAndRecipes) {
  const Folder folder;
  write_images(folder, 3);
  for (const auto* format : {"csv", "jsonl", "db"}) {
    const std::string output = folder.path("r." + std::string(format));
    ASSERT_EQ(run(call_for(folder.path("in"), output)).status, 0);
    const std::string before = content_of(output);
    const Finished finished = run(call_for(folder.path("in"), output, {"-k", "1"}));
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err,
                HasSubstr(output + ": has other options, so new rows would not fit its rows:\n"));
    EXPECT_THAT(finished.err, HasSubstr("options.top is 2 in the file, 1 now\n"));
    EXPECT_THAT(finished.err, HasSubstr("or start again with --restart"));
    const Finished resized = run(call_for(folder.path("in"), output, {"--image-size", "96"}));
    EXPECT_THAT(resized.err, HasSubstr("recipe.crop_height is 64 in the file, 96 now"));
    Call other = call_for(folder.path("in"), output);
    other.arguments[2] = golden("timm_vit");
    EXPECT_THAT(run(other).err, HasSubstr("model_sha256 is "));
    EXPECT_EQ(content_of(output), before);
    EXPECT_EQ(run(call_for(folder.path("in"), output, {"-k", "1", "--restart"})).status, 0);
    EXPECT_NE(content_of(output), before);
  }
}

TEST(Resume, RetriesFailedRowsInTheirPlaces) {
  const Folder folder;
  write_images(folder, 15);  // 6 and 13 are broken
  folder.write("in/007x.bmp", image_bytes());
  for (const auto& format : kFormats) {
    const std::string output = folder.path("r." + format), calm = folder.path("calm." + format);
    const std::string broken = read_file(folder.path("in/006.bmp"));
    ASSERT_EQ(run(call_for(folder.path("in"), output)).status, 0);
    const std::string before = all_of(output);
    folder.write("in/006.bmp", image_bytes());
    ASSERT_EQ(run(call_for(folder.path("in"), output)).status, 0);
    EXPECT_EQ(all_of(output), before) << "no retry was requested";
    const Finished finished = run(call_for(folder.path("in"), output, {"--retry-failed"}));
    ASSERT_EQ(finished.status, 0) << finished.err;
    ASSERT_EQ(run(call_for(folder.path("in"), calm)).status, 0);
    EXPECT_EQ(all_of(output), all_of(calm)) << format;
    EXPECT_FALSE(fs::exists(output + ".retry"));
    folder.write("in/006.bmp", broken);
  }
}

TEST(Resume, ContinuesARetryThatWasKilled) {
  const Folder folder;
  write_images(folder, 15);
  const std::string output = folder.path("r.csv");
  ASSERT_EQ(run(call_for(folder.path("in"), output)).status, 0);
  const std::string before = read_file(output);
  // As a kill leaves it: the header and one of the two rows.
  const size_t row = before.find("\n7,"), end = before.find('\n', row + 1);
  const std::string header = before.substr(0, before.find("\n1,") + 1);
  std::string retried = header + before.substr(row + 1, end - row);
  const size_t failed = retried.find(",failed,");
  retried.replace(failed, retried.size() - failed, ",ok,,1,answered before,0.5,2,x,0.25,,,\n");
  folder.write("r.csv.retry", retried);
  folder.write("r.csv.retry.run.json", read_file(output + ".run.json"));
  ASSERT_EQ(run(call_for(folder.path("in"), output, {"--retry-failed"})).status, 0);
  const std::string after = read_file(output);
  EXPECT_THAT(after, HasSubstr(",ok,,1,answered before,"));
  // One that belongs to other rows is thrown away.
  folder.write("r.csv.retry", header + "3,in/x.bmp,ok,,,,,,,,,,\n");
  folder.write("r.csv.retry.run.json", read_file(output + ".run.json"));
  ASSERT_EQ(run(call_for(folder.path("in"), output, {"--retry-failed"})).status, 0);
  EXPECT_EQ(read_file(output), after);
}

TEST(Resume, LetsOnlyOneProgramWriteAFile) {
  const Folder folder;
  write_images(folder, 3);
  const std::string fifo = folder.path("names"), output = folder.path("r.csv");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const int names = open(fifo.c_str(), O_RDWR);
  Running first(call_for("@" + fifo, output));
  wait_for_rows(output);
  const Finished second = run(call_for(folder.path("in"), output));
  EXPECT_EQ(second.status, 1);
  EXPECT_THAT(second.err, HasSubstr("another vit is writing this file; wait for it, or end it"));
  first.send(SIGTERM);
  EXPECT_EQ(first.wait().status, 128 + SIGTERM);
  close(names);
}

TEST(Resume, FinishesItsRowsOnControlCAndSaysHowToResume) {
  const Folder folder;
  write_images(folder, 20);
  const std::string fifo = folder.path("names"), output = folder.path("r.jsonl");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const int names = open(fifo.c_str(), O_RDWR);
  Running running(call_for("@" + fifo, output));
  std::string list;
  for (int i = 0; i < 10; ++i) list += folder.path("in/00" + std::to_string(i) + ".bmp") + "\n";
  ASSERT_EQ(write(names, list.data(), list.size()), static_cast<ssize_t>(list.size()));
  // Rows are written while the list is still open.
  for (int i = 0; i < 1000 && rows_of(read_file(output)).size() < 10; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  running.send(SIGINT);
  const Finished finished = running.wait();
  close(names);
  EXPECT_EQ(finished.status, 130);
  EXPECT_EQ(finished.err, "vit: stopped after 10 rows; run the same command again to resume\n");
  EXPECT_THAT(rows_of(read_file(output)), SizeIs(10));
  ASSERT_EQ(run(call_for(folder.path("in"), output)).status, 0);
  EXPECT_THAT(rows_of(read_file(output)), SizeIs(20));
}

/// A disk of its own, for as long as the test lasts.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& place) : place_(place) {
    fs::create_directory(place);
    mounted_ = mount("tmpfs", place.c_str(), "tmpfs", 0, "size=1m") == 0;
  }
  ~SmallDisk() {
    if (mounted_) umount2(place_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  void resize(const std::string& size) const {
    if (mount("tmpfs", place_.c_str(), "tmpfs", MS_REMOUNT, ("size=" + size).c_str()) != 0)
      throw std::runtime_error("cannot resize " + place_);
  }

 private:
  std::string place_;
  bool mounted_ = false;
};

TEST(Resume, ReportsAFullDiskAndContinuesWhenThereIsSpace) {
  const Folder folder;
  const SmallDisk disk(folder.path("disk"));
  if (!disk.mounted()) GTEST_SKIP() << "cannot mount a small disk here";
  write_images(folder, 500);
  for (const auto& format : kFormats) {
    const std::string output = folder.path("disk/r." + format), calm = folder.path("c." + format);
    ASSERT_EQ(run(call_for(folder.path("in"), calm)).status, 0);
    disk.resize(format == "db" ? "128k" : "32k");
    const Finished full = run(call_for(folder.path("in"), output));
    EXPECT_EQ(full.status, 1) << format;
    EXPECT_THAT(full.err, testing::AnyOf(HasSubstr("No space left on device"),
                                         HasSubstr("database or disk is full")));
    EXPECT_THAT(full.err, HasSubstr("the rows so far are safe; run the same command again"));
    if (format == "csv" || format == "jsonl") {
      EXPECT_THAT(read_file(calm), StartsWith(read_file(output)));
      EXPECT_TRUE(read_file(output).empty() || read_file(output).ends_with('\n'));
    }
    disk.resize("4m");
    const Finished resumed = run(call_for(folder.path("in"), output));
    ASSERT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_EQ(all_of(output), all_of(calm)) << format;
    remove_output(output);
  }
}

TEST(Resume, LeavesWholeRowsWhenAFileMayNotGrow) {
  const Folder folder;
  write_images(folder, 500);
  const std::string output = folder.path("r.csv"), calm = folder.path("c.csv");
  ASSERT_EQ(run(call_for(folder.path("in"), calm)).status, 0);
  Call call = call_for(folder.path("in"), output);
  call.largest_file = 10'000;
  const Finished full = run(call);
  EXPECT_EQ(full.status, 1);
  EXPECT_THAT(full.err, HasSubstr("r.csv: cannot write: File too large\n"));
  EXPECT_THAT(read_file(calm), StartsWith(read_file(output)));
  EXPECT_EQ(read_file(output).back(), '\n');
  ASSERT_EQ(run(call_for(folder.path("in"), output)).status, 0);
  EXPECT_EQ(read_file(output), read_file(calm));
}

TEST(Resume, NeedsNoMoreMemoryForAHundredTimesTheFiles) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer keeps what is freed for a while";
#endif
  const Folder folder;
  const auto peak = [&](const std::string& name, int count) {
    fs::create_directories(folder.path(name));
    for (int i = 0; i < count; ++i) {
      const std::string path = folder.path(name + "/photo-" + std::to_string(i) + ".jpg");
      close(open(path.c_str(), O_CREAT | O_WRONLY, 0600));
    }
    folder.write(name + "/good.bmp", image_bytes());
    const Finished first = run(call_for(folder.path(name), folder.path(name + ".csv")));
    EXPECT_EQ(first.status, 0) << first.err;
    // And once more, where every row has to be found again.
    const Finished again = run(call_for(folder.path(name), folder.path(name + ".csv")));
    EXPECT_EQ(again.status, 0) << again.err;
    return std::max(first.peak_bytes, again.peak_bytes);
  };
  const size_t few = peak("few", 1'000), many = peak("many", 100'000);
  EXPECT_LE(static_cast<double>(many), 1.1 * static_cast<double>(few))
      << few << " bytes for 1,000 files, " << many << " for 100,000";
}

}  // namespace
}  // namespace vit::tools
