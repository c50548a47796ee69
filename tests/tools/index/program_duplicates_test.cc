/// `vit duplicates`: planted copies are grouped, the best one is kept, and nothing is deleted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/tools/index/index_call.h"
#include "tools/draw/canvas.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

std::string name_of(const json& image) {
  return fs::path(image["path"].get<std::string>()).filename().string();
}

/// in/0.png … in/7.png; of in/3.png a copy, a smaller one, a recompressed and a flipped one; of
/// in/5.png a larger one.
class DuplicatesProgram : public testing::Test {
 protected:
  DuplicatesProgram() {
    write_planted(folder_, 8);
    const patch::Image third = planted_image(96, 64, 3);
    fs::copy_file(folder_.path("in/3.png"), folder_.path("in/copy of 3.png"));
    write_image(scaled(third, 60, 40), folder_.path("in/smaller.png"));
    write_jpeg(third, 60, folder_.path("in/recompressed.jpg"));
    write_image(flipped(third), folder_.path("in/flipped.png"));
    write_image(scaled(planted_image(96, 64, 5), 192, 128), folder_.path("in/larger.png"));
    update();
  }

  void update() {
    const Finished finished = index_images({folder_.path("in"), "-q", "-o", index_});
    EXPECT_EQ(finished.status, 0) << finished.err;
  }

  Finished duplicates(std::vector<std::string> more) {
    more.insert(more.begin(), {"duplicates", index_});
    return run(more);
  }

  json found(std::vector<std::string> more = {}) {
    more.push_back("--json");
    const Finished finished = duplicates(more);
    EXPECT_EQ(finished.status, 0) << finished.err;
    return json::parse(finished.out);
  }

  Folder folder_;
  std::string index_ = folder_.path("photos.index");
};

/// The group of an image by name: the others, or nothing.
std::vector<std::string> others_of(const json& result, const std::string& kept) {
  std::vector<std::string> names;
  for (const auto& group : result["groups"])
    if (name_of(group["keep"]) == kept)
      for (const auto& one : group["duplicates"]) names.push_back(name_of(one));
  return names;
}

std::map<std::string, std::string> reasons_in(const json& result) {
  std::map<std::string, std::string> reasons;
  for (const auto& group : result["groups"]) {
    reasons[name_of(group["keep"])] = group["keep"]["reason"];
    for (const auto& one : group["duplicates"]) reasons[name_of(one)] = one["reason"];
  }
  return reasons;
}

TEST_F(DuplicatesProgram, GroupsPlantedCopiesAndNothingElse) {
  const json result = found();
  EXPECT_EQ(result["images"], 13);
  EXPECT_EQ(result["duplicates"], 4);
  ASSERT_EQ(result["groups"].size(), 2u);
  EXPECT_THAT(others_of(result, "3.png"),
              UnorderedElementsAre("copy of 3.png", "smaller.png", "recompressed.jpg"));
  EXPECT_THAT(others_of(result, "larger.png"), ElementsAre("5.png"));
}

TEST_F(DuplicatesProgram, TakesAFlippedImageAtALowerThreshold) {
  const json result = found({"-t", "0.8"});
  auto reasons = reasons_in(result);
  EXPECT_EQ(result["groups"].size(), 2u);
  EXPECT_TRUE(reasons.contains("flipped.png") && reasons.contains("3.png"));
}

TEST_F(DuplicatesProgram, FindsOnlyEqualPixelsAtThresholdOne) {
  const json result = found({"--threshold", "0.99999"});
  ASSERT_EQ(result["groups"].size(), 1u);
  EXPECT_THAT(others_of(result, "3.png"), ElementsAre("copy of 3.png"));
}

TEST_F(DuplicatesProgram, KeepsMostPixelsThenTheLargestFileThenTheShortestPath) {
  auto reasons = reasons_in(found());
  EXPECT_EQ(reasons["larger.png"], "most pixels");
  EXPECT_EQ(reasons["5.png"], "fewer pixels");
  EXPECT_EQ(reasons["3.png"], "as many pixels and bytes as another, shortest path");
  EXPECT_EQ(reasons["copy of 3.png"], "same content");
  EXPECT_EQ(reasons["recompressed.jpg"], "as many pixels, smaller file");
  EXPECT_EQ(reasons["smaller.png"], "fewer pixels");
  fs::remove(folder_.path("in/copy of 3.png"));
  update();
  EXPECT_EQ(reasons_in(found())["3.png"], "largest file among those with the most pixels");
}

/// The image to keep may be gone: then its duplicates must not be offered.
TEST_F(DuplicatesProgram, LeavesOutImagesThatAreGoneOrChanged) {
  fs::remove(folder_.path("in/larger.png"));
  write_image(planted_image(96, 64, 55), folder_.path("in/3.png"));
  const Finished finished = duplicates({"--json"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.err, HasSubstr("photos.index: 1 image is gone and 1 image has changed since "
                                      "it was made; they are left out"));
  const json result = json::parse(finished.out);
  EXPECT_EQ(result["images"], 11);
  EXPECT_THAT(others_of(result, "copy of 3.png"),
              UnorderedElementsAre("smaller.png", "recompressed.jpg"));
  EXPECT_EQ(result["groups"].size(), 1u);
}

TEST_F(DuplicatesProgram, WritesEveryFormAndDeletesNothing) {
  const auto before = std::distance(fs::directory_iterator(folder_.path("in")), {});
  for (const auto* name : {"a.csv", "a.json", "a.html"}) {
    const Finished finished = duplicates({"-o", folder_.path(name)});
    ASSERT_EQ(finished.status, 0) << finished.err;
    EXPECT_THAT(finished.err,
                HasSubstr("photos.index: 13 images, 2 groups of duplicates, 4 images"));
    EXPECT_EQ(finished.out, "");
  }
  const std::string table = read_file(folder_.path("a.csv"));
  EXPECT_THAT(table, testing::StartsWith("group,proposal,score,reason,path,width,height,bytes\n"));
  EXPECT_THAT(table, HasSubstr(",duplicate,1.000000,same content," + folder_.path("in")));
  EXPECT_EQ(std::ranges::count(table, '\n'), 7);
  EXPECT_EQ(json::parse(read_file(folder_.path("a.json"))), found());
  const std::string page = read_file(folder_.path("a.html"));
  EXPECT_THAT(page, HasSubstr("<span class=\"badge\">keep</span>"));
  EXPECT_THAT(page, HasSubstr("copy%20of%203.png\""));
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path("in")), {}), before);
}

TEST_F(DuplicatesProgram, ShowsTheFirstGroupsOnThePage) {
  ASSERT_EQ(duplicates({"-o", folder_.path("a.html"), "--groups", "1"}).status, 0);
  const std::string page = read_file(folder_.path("a.html"));
  EXPECT_THAT(page, HasSubstr("This page has the first 1 groups; a .csv or .json file has all."));
  EXPECT_THAT(page, Not(HasSubstr("Group 2")));
}

TEST_F(DuplicatesProgram, GivesTheSameForAnyNumberOfThreadsAndNumbersOf16Bits) {
  const std::string alone = duplicates({"--json", "--threads", "1"}).out;
  EXPECT_EQ(duplicates({"--json", "--threads", "3"}).out, alone);
  const std::string half = folder_.path("half.index");
  ASSERT_EQ(index_images({folder_.path("in"), "-q", "--half", "-o", half}).status, 0);
  const json result = json::parse(run({"duplicates", half, "--json"}).out);
  EXPECT_THAT(others_of(result, "3.png"),
              UnorderedElementsAre("copy of 3.png", "smaller.png", "recompressed.jpg"));
}

TEST_F(DuplicatesProgram, RefusesWhatItCannotDo) {
  const auto says = [](const Finished& finished, int status, const char* text) {
    EXPECT_EQ(finished.status, status);
    EXPECT_THAT(finished.err, HasSubstr(text));
    EXPECT_EQ(finished.out, "");
  };
  says(duplicates({"-t", "1.5"}), 2, "option '--threshold' got '1.5', expected");
  says(duplicates({"-o", folder_.path("a.txt")}), 2, "a.txt");
  says(duplicates({"-o", index_}), 2, "photos.index");
  says(duplicates({"-o", folder_.path("none/a.csv")}), 1, "none");
  says(duplicates({"--json", "-o", folder_.path("a.csv")}), 2, "give one of --json and -o");
  says(run({"duplicates"}), 2, "no index given, expected one index file");
  says(run({"duplicates", folder_.path("none.index")}), 1, "none.index");
  says(run({"duplicates", folder_.path("in/3.png")}), 1, "is not an index by vit");
}

}  // namespace
}  // namespace vit::tools
