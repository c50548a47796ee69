/// `vit index`: what is computed, what is kept, and what is left after kills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/tools/index/index_call.h"
#include "tools/draw/canvas.h"
#include "vit/index/file.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

size_t live_in(const std::string& path) {
  return index::live_rows(index::read_index(path).vectors).size();
}

TEST(IndexProgram, ComputesOnlyWhatIsNewOrChanged) {
  const Folder folder;
  write_planted(folder, 5);
  const std::string out = folder.path("photos.index");
  EXPECT_THAT(index_images({folder.path("in"), "-o", out}).err, HasSubstr("5 images, 5 new\n"));
  EXPECT_THAT(index_images({folder.path("in"), "-o", out}).err,
              HasSubstr("5 images, 5 unchanged\n"));
  write_image(planted_image(96, 64, 77), folder.path("in/1.png"));
  fs::last_write_time(folder.path("in/2.png"), fs::file_time_type::clock::now());
  fs::rename(folder.path("in/3.png"), folder.path("in/moved.png"));
  fs::remove(folder.path("in/4.png"));
  write_image(planted_image(96, 64, 78), folder.path("in/new.png"));
  const Finished finished = index_images({folder.path("in"), "-o", out});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("5 images, 1 new, 1 changed, 2 with known content, 1 "
                                      "unchanged, 2 gone\n"));
  EXPECT_EQ(live_in(out), 5u);
}

TEST(IndexProgram, KeepsRowsOfFoldersThatAreNotListed) {
  const Folder folder;
  write_planted(folder, 2);
  write_image(planted_image(96, 64, 9), folder.path("more/9.png"));
  const std::string out = folder.path("photos.index");
  ASSERT_EQ(index_images({folder.path("in"), "-o", out}).status, 0);
  fs::rename(folder.path("in"), folder.path("unmounted"));
  EXPECT_THAT(index_images({folder.path("more"), "-o", out}).err, HasSubstr("3 images, 1 new\n"));
}

TEST(IndexProgram, GivesTheSameVectorsFromImagesAndFromEmbeddings) {
  const Folder folder;
  write_planted(folder, 3);
  ASSERT_EQ(index_images({folder.path("in"), "-o", folder.path("a.index")}).status, 0);
  ASSERT_EQ(
      run({"embed", "-q", "-m", golden("hf_vit"), folder.path("in"), "-o", folder.path("f.npy")})
          .status,
      0);
  const Finished finished =
      run({"index", folder.path("f.npy"), "-o", folder.path("b.index"), "--half"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const auto a = index::read_index(folder.path("a.index"));
  const auto b = index::read_index(folder.path("b.index"));
  ASSERT_EQ(a.vectors.rows, 3u);
  ASSERT_EQ(b.vectors.rows, 3u);
  EXPECT_EQ(b.format.type, index::NumberType::kF16);
  for (size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(a.entries[row].path, b.entries[row].path);
    std::vector<float> x(a.format.width), y(b.format.width);
    index::read_rows(a.vectors, {&row, 1}, MatrixView(x.data(), 1, x.size()));
    index::read_rows(b.vectors, {&row, 1}, MatrixView(y.data(), 1, y.size()));
    for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], 1e-3);
  }
}

TEST(IndexProgram, RecordsImagesThatCannotBeRead) {
  const Folder folder;
  write_planted(folder, 2);
  std::ofstream(folder.path("in/broken.jpg")) << "no image";
  const std::string out = folder.path("photos.index");
  const Finished first = index_images({folder.path("in"), "-o", out});
  EXPECT_EQ(first.status, 0);
  EXPECT_THAT(first.err, HasSubstr("broken.jpg: "));
  EXPECT_THAT(first.err, HasSubstr("2 images, 3 new, 1 failed\n"));
  EXPECT_THAT(index_images({folder.path("in"), "-o", out}).err,
              HasSubstr("2 images, 3 unchanged, 1 failed\n"));
  write_image(planted_image(50, 50, 5), folder.path("in/broken.jpg"));
  EXPECT_THAT(index_images({folder.path("in"), "-o", out}).err,
              HasSubstr("3 images, 1 changed, 2 unchanged\n"));
}

constexpr size_t kLongRun = 160;

/// A run of several pieces on one thread: pictures that take time to decode. Bytes after their
/// end make the files differ.
std::vector<std::string> long_run(const Folder& folder, const std::string& out) {
  const std::string picture = encode_picture(planted_image(1600, 1200, 1), ".png");
  for (size_t i = 0; i < kLongRun; ++i)
    folder.write("in/long" + std::to_string(i) + ".png", picture + std::to_string(i));
  return {"index", "-q", "-m", golden("hf_vit"), folder.path("in"), "-o", out, "--threads", "1"};
}

size_t rows_in(const std::string& path) {
  return fs::exists(path) ? index::read_index(path).vectors.rows : 0;
}

/// Numbers and paths of all rows.
std::string content_of(const std::string& path) {
  const auto index = index::read_index(path);
  index::check_numbers(index, path);
  std::string content;
  for (const size_t row : index::live_rows(index.vectors)) {
    std::vector<float> vector(index.format.width);
    index::read_rows(index.vectors, {&row, 1}, MatrixView(vector.data(), 1, vector.size()));
    content += std::string(index.entries[row].path) + "\n";
    content.append(reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float));
  }
  return content;
}

/// A run that ends in the middle of a write, at every part of the block that it appends: header,
/// numbers, table. Independent of the machine's speed.
TEST(IndexProgram, LosesNothingWhereverItsWritesEnd) {
  const Folder folder;
  const std::string out = folder.path("photos.index"), whole = folder.path("whole.index");
  write_planted(folder, 3);
  ASSERT_EQ(index_images({folder.path("in"), "-q", "-o", out}).status, 0);
  const std::string first = read_file(out), rows = content_of(out);
  for (unsigned i = 3; i < 8; ++i)
    write_image(planted_image(96, 64, i), folder.path("in/" + std::to_string(i) + ".png"));
  for (const auto& path : {out, whole})
    ASSERT_EQ(index_images({folder.path("in"), "-q", "-o", path}).status, 0);
  const size_t end = read_file(out).size();
  ASSERT_GT(end, first.size());
  const auto ended_at = [&](size_t bytes) {
    std::ofstream(out, std::ios::binary) << first;
    Call call;
    call.arguments = {"index", "-q", "-m", golden("hf_vit"), folder.path("in"), "-o", out};
    call.largest_file = bytes;
    call.ends_at_largest_file = true;
    return run(call).status;
  };
  for (size_t bytes = first.size(); bytes < end; bytes += (end - first.size()) / 6) {
    EXPECT_EQ(ended_at(bytes), 128 + SIGXFSZ) << bytes;
    EXPECT_EQ(content_of(out), rows) << bytes;
    EXPECT_EQ(index_images({folder.path("in"), "-q", "-o", out}).status, 0) << bytes;
    EXPECT_EQ(content_of(out), content_of(whole)) << bytes;
  }
}

/// Kills the run as soon as it has written more rows. False: it came to its end before.
bool killed_after_more_rows(const std::vector<std::string>& arguments, const std::string& out) {
  const size_t before = rows_in(out);
  Call call;
  call.arguments = arguments;
  Running running(call);
  while (rows_in(out) == before && !running.ends_within(std::chrono::seconds(0)))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  running.send(SIGKILL);
  return running.wait().status == 128 + SIGKILL;
}

TEST(IndexProgram, LosesNothingWhenItIsKilledAgainAndAgain) {
  const Folder folder;
  const std::string out = folder.path("photos.index"), whole = folder.path("whole.index");
  const auto arguments = long_run(folder, out);
  size_t kills = 0, rows = 0;  // none where the machine is done before it is killed
  while (killed_after_more_rows(arguments, out)) {
    ++kills;
    EXPECT_GT(rows_in(out), rows);
    rows = rows_in(out);
    std::ofstream(out, std::ios::app) << "VITBLOCK torn";
    ASSERT_LT(kills, 100u);
  }
  const Finished finished = index_images({folder.path("in"), "-o", out});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("photos.index: 160 images, 160 unchanged\n"));
  ASSERT_EQ(index_images({folder.path("in"), "-q", "-o", whole}).status, 0);
  EXPECT_EQ(content_of(out), content_of(whole));
}

TEST(IndexProgram, KeepsWhatItHadWhenAnUpdateIsKilled) {
  const Folder folder;
  const std::string out = folder.path("photos.index");
  write_planted(folder, 5);
  ASSERT_EQ(index_images({folder.path("in"), "-q", "-o", out}).status, 0);
  const std::string before = content_of(out);
  Call call;
  call.arguments = long_run(folder, out);
  Running running(call);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  running.send(SIGKILL);
  running.wait();
  EXPECT_THAT(content_of(out), testing::StartsWith(before));
  EXPECT_EQ(index_images({folder.path("in"), "-q", "-o", out}).status, 0);
  EXPECT_EQ(live_in(out), 5 + kLongRun);
}

TEST(IndexProgram, UsesTheClassTokenOfTheLastLayersToo) {
  const Folder folder;
  const std::string out = folder.path("photos.index");
  const Finished finished =
      run({"index", "-m", golden("families/cait"), golden_image("families/cait"), "-o", out});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(index::read_index(out).format.description, HasSubstr("\"cls\""));
}

TEST(IndexProgram, RefusesAnIndexOfAnotherModel) {
  const Folder folder;
  write_planted(folder, 1);
  const std::string out = folder.path("photos.index");
  ASSERT_EQ(index_images({folder.path("in"), "-o", out}).status, 0);
  const std::string before = read_file(out);
  const Finished finished = index_images({folder.path("in"), "-o", out, "--features", "mean"});
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, HasSubstr("photos.index: was made with another model or other options:"
                                      "\n  options.features is \"cls\" in the file, \"mean\" now\n"
                                      "use the same model and options"));
  EXPECT_EQ(read_file(out), before);
  EXPECT_EQ(index_images({folder.path("in"), "-o", out, "--features", "mean", "--restart"}).status,
            0);
}

TEST(IndexProgram, RefusesWrongUsage) {
  const Folder folder;
  write_planted(folder, 1);
  EXPECT_EQ(index_images({folder.path("in")}).status, 2);
  EXPECT_THAT(index_images({folder.path("in")}).err, HasSubstr("no output given, expected -o"));
  EXPECT_EQ(index_images({folder.path("none"), "-o", folder.path("a.index")}).status, 2);
  EXPECT_EQ(index_images({folder.path("in"), "-o", folder.path("in/0.png")}).status, 2);
  const Finished no_list = run({"index", folder.path("x.npy"), "-o", folder.path("a.index")});
  EXPECT_EQ(no_list.status, 1);
  EXPECT_THAT(no_list.err, HasSubstr("x.npy: no such file"));
}

}  // namespace
}  // namespace vit::tools
