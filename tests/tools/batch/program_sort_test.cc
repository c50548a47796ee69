/// Files sorted by rows, whether this run has written them or an earlier one.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/tools/batch/batch_call.h"
#include "tests/tools/batch/tar_builder.h"
#include "tools/rows/shard.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

std::vector<std::string> files_under(const std::string& folder) {
  std::vector<std::string> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (!entry.is_directory()) files.push_back(entry.path().lexically_relative(folder).string());
  return files;
}

/// "-" and the digits of the hash that sorting puts behind names.
std::string hash_mark(const std::string& path) {
  std::array<char, 20> text{};
  std::snprintf(text.data(), text.size(), "-%016jx", std::uintmax_t{path_hash(path)});
  return text.data();
}

/// Not quiet, so that its last line can be read.
Finished talk(std::vector<std::string> more) {
  auto arguments = batch_arguments(std::move(more));
  std::erase(arguments, "--quiet");
  return run(arguments);
}

TEST(Sorting, OfAFinishedRunNeedsNoInference) {
  for (const auto* name : {"r.csv", "r.jsonl", "r.db"}) {
    const Folder folder;
    write_images(folder, 15);  // 6 and 13 are broken
    const std::string output = folder.path(name);
    ASSERT_EQ(
        batch({folder.path("in"), "-o", folder.path("calm.csv"), "--link-to", folder.path("calm")})
            .status,
        0);
    const auto expected = files_under(folder.path("calm"));
    ASSERT_EQ(expected.size(), 13u);
    ASSERT_EQ(batch({folder.path("in"), "-o", output}).status, 0);
    const std::string rows = content_of(output);
    const Finished sorted =
        talk({folder.path("in"), "-o", output, "--link-to", folder.path("sorted")});
    EXPECT_EQ(sorted.status, 0);
    EXPECT_THAT(sorted.err,
                testing::MatchesRegex("vit: .*: 15 rows, 2 failed, 13 linked into "
                                      "[0-9]+ folders?( .*)?, nothing was left to do\n"));
    EXPECT_THAT(files_under(folder.path("sorted")), UnorderedElementsAreArray(expected)) << name;
    EXPECT_EQ(content_of(output), rows);
  }
}

TEST(Sorting, OfAResumedRunTakesTheEarlierRowsToo) {
  const Folder folder;
  write_images(folder, 12);
  const std::string output = folder.path("r.csv");
  ASSERT_EQ(batch({folder.path("in"), "-o", output}).status, 0);
  const std::string whole = read_file(output);
  folder.write("r.csv", whole.substr(0, whole.find("\n8,") + 20));  // 7 rows and a torn one
  const Finished sorted =
      talk({folder.path("in"), "-o", output, "--copy-to", folder.path("sorted")});
  EXPECT_EQ(sorted.status, 0);
  EXPECT_THAT(sorted.err, HasSubstr(": 12 rows, 1 failed, 11 copied into "));
  EXPECT_EQ(files_under(folder.path("sorted")).size(), 11u);
  EXPECT_EQ(read_file(output), whole);
}

TEST(Sorting, PlacesRowsThatWereRetried) {
  const Folder folder;
  write_images(folder, 8);  // 6 is broken
  const std::string output = folder.path("r.csv");
  ASSERT_EQ(batch({folder.path("in"), "-o", output}).status, 0);
  folder.write("in/006.bmp", image_bytes());
  const Finished sorted =
      talk({folder.path("in"), "-o", output, "--retry-failed", "--link-to", folder.path("sorted")});
  EXPECT_EQ(sorted.status, 0);
  EXPECT_THAT(sorted.err, HasSubstr(": 8 rows, 8 linked into "));
  EXPECT_EQ(files_under(folder.path("sorted")).size(), 8u);
}

TEST(Sorting, PlacesEveryRowAfterARetryThatWasKilled) {
  const Folder folder;
  constexpr size_t kBroken = 6;
  for (size_t i = 0; i < kBroken; ++i) folder.write("in/" + std::to_string(i) + ".png", "");
  folder.write("in/good.bmp", image_bytes());
  const std::string output = folder.path("r.csv");
  ASSERT_EQ(batch({folder.path("in"), "-o", output}).status, 0);
  for (size_t i = 0; i < kBroken; ++i)
    folder.write("in/" + std::to_string(i) + ".png",
                 photograph(1500, 1500, 3 + static_cast<unsigned>(i)));
  const Call retry = batch_call({folder.path("in"), "-o", output, "--threads", "1",
                                 "--retry-failed", "--link-to", folder.path("sorted")});
  {
    Running running(retry);
    std::error_code none;
    for (int i = 0; i < 6000 && fs::file_size(output + ".retry", none) < 1000; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    running.send(SIGKILL);
    running.wait();
  }
  const Finished again = run(retry);
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(files_under(folder.path("sorted")).size(), kBroken + 1);
  EXPECT_FALSE(fs::exists(output + ".retry"));
}

TEST(Sorting, TakesTheNameOfACopyThatWasKilled) {
  const Folder folder;
  const std::string photo = folder.write("in/x.bmp", image_bytes());
  ASSERT_EQ(chmod(photo.c_str(), 0444), 0);
  const std::vector<std::string> call{photo, "-o", folder.path("r.csv"), "--copy-to",
                                      folder.path("sorted")};
  ASSERT_EQ(batch(call).status, 0);
  const auto files = files_under(folder.path("sorted"));
  ASSERT_EQ(files.size(), 1u);
  // What a kill leaves: half a copy under the name that the copy has until it is whole.
  const fs::path copy = folder.path("sorted/" + files[0]);
  const fs::path half = copy.parent_path() / (".vit" + hash_mark(photo) + ".tmp");
  fs::remove(copy);
  std::ofstream(half) << "half";
  ASSERT_EQ(chmod(half.c_str(), 0444), 0);
  const Finished again = batch(call);
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(read_file(copy), image_bytes());
  EXPECT_FALSE(fs::exists(half));
  EXPECT_EQ(fs::status(copy).permissions(), fs::perms(0444));
}

TEST(Sorting, PutsFilesBelowTheThresholdIntoTheirOwnFolderAndKeepsTheBestGuess) {
  const Folder folder;
  const std::string image = golden_image("hf_vit"), output = folder.path("r.csv");  // 0.348
  for (int i = 0; i < 2; ++i) {
    const Finished sorted =
        talk({image, "-o", output, "--min-probability", "0.9", "--link-to", folder.path("sorted")});
    EXPECT_EQ(sorted.status, 0);
    EXPECT_THAT(sorted.err, HasSubstr("r.csv: 1 row, 0 linked into 0 folders, 1 into unsure, "));
    EXPECT_THAT(files_under(folder.path("sorted")),
                UnorderedElementsAreArray({"unsure/" + fs::path(image).filename().string()}));
    EXPECT_THAT(read_file(output), HasSubstr(",great white shark,0.348"));
  }
  const Finished other =
      talk({image, "-o", output, "--min-probability", "0.2", "--link-to", folder.path("sorted")});
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, HasSubstr("options.min_probability is 0.9 in the file, 0.2 now"));
}

TEST(Sorting, ReportsFilesThatAreGoneAndPlacesTheOthers) {
  const Folder folder;
  write_images(folder, 4);
  folder.write("t.tar", tar_member("a/m.bmp", image_bytes()) + tar_member("n.bmp", image_bytes()) +
                            tar_end());
  const std::string output = folder.path("r.jsonl"), gone = folder.path("in/002.bmp");
  ASSERT_EQ(batch({folder.path("in"), folder.path("t.tar"), "-o", output}).status, 0);
  fs::remove(gone);
  folder.write("t.tar", tar_member("a/m.bmp", image_bytes()) + tar_end());
  const Finished sorted = batch(
      {folder.path("in"), folder.path("t.tar"), "-o", output, "--link-to", folder.path("sorted")});
  EXPECT_EQ(sorted.status, 0);
  EXPECT_EQ(sorted.err, "vit: 2 files of earlier rows could not be sorted, the first: " + gone +
                            ": no such file\n");
  const auto files = files_under(folder.path("sorted"));
  EXPECT_EQ(files.size(), 4u);
  EXPECT_THAT(files, testing::Contains(testing::EndsWith("/m.bmp")));
}

TEST(Sorting, RefusesAFolderWhoseFilesAPatternWouldTakeNextTime) {
  const Folder folder;
  write_images(folder, 3);
  for (const auto* pattern : {"in/**", "in/**/*.bmp", "in/*"})
    for (const auto* option : {"--copy-to", "--link-to"}) {
      const std::string operand = folder.path(pattern), sorted = folder.path("in/sorted");
      const Finished refused = batch({operand, "-o", folder.path("r.csv"), option, sorted});
      EXPECT_EQ(refused.status, 2) << pattern;
      EXPECT_THAT(refused.err, HasSubstr("option '" + std::string(option) + "' got '" + sorted +
                                         "', which is inside the input '" + operand + "'"));
      EXPECT_FALSE(fs::exists(folder.path("r.csv")));
    }
  const Finished taken = batch(
      {folder.path("in/*.bmp"), "-o", folder.path("r.csv"), "--copy-to", folder.path("in/sorted")});
  EXPECT_EQ(taken.status, 0) << taken.err;
  EXPECT_EQ(files_under(folder.path("in/sorted")).size(), 3u);
}

TEST(Sorting, CopiesTimesAndPermissions) {
  const Folder folder;
  const std::string photo = folder.write("in/x.bmp", image_bytes());
  const timespec times[2] = {{1'557'000'000, 0}, {1'557'012'345, 678'000'000}};
  ASSERT_EQ(utimensat(AT_FDCWD, photo.c_str(), times, 0), 0);
  ASSERT_EQ(chmod(photo.c_str(), 0640), 0);
  ASSERT_EQ(batch({photo, "-o", folder.path("r.csv"), "--copy-to", folder.path("sorted")}).status,
            0);
  const auto files = files_under(folder.path("sorted"));
  ASSERT_EQ(files.size(), 1u);
  struct stat status {};
  ASSERT_EQ(stat(folder.path("sorted/" + files[0]).c_str(), &status), 0);
  EXPECT_EQ(status.st_mtim.tv_sec, 1'557'012'345);
  EXPECT_EQ(status.st_mtim.tv_nsec, 678'000'000);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

}  // namespace
}  // namespace vit::tools
