/// Which files the CMakeLists.txt of a folder may name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/paths.h"

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

std::string read(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The sources in a CMakeLists.txt that are not files of its own folder. The build makes some.
std::vector<std::string> sources_elsewhere(const std::string& list) {
  std::vector<std::string> found;
  std::istringstream stream(list);
  for (std::string word; stream >> word;) {
    word.erase(std::min(word.find(')'), word.size()));
    const std::string ending = fs::path(word).extension();
    if ((ending == ".cc" || ending == ".c") && word.find('/') != word.npos &&
        !word.starts_with("${CMAKE_CURRENT_BINARY_DIR}/"))
      found.push_back(word);
  }
  return found;
}

std::vector<fs::path> lists_below(const fs::path& top) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(vit::test::source_dir() / top))
    if (entry.path().filename() == "CMakeLists.txt") found.push_back(entry.path());
  return found;
}

TEST(BuildLists, NameTheirOwnFoldersSources) {
  size_t lists = 0;
  for (const auto* top : {"vit", "patch", "weights", "tools"})
    for (const fs::path& list : lists_below(top)) {
      ++lists;
      EXPECT_THAT(sources_elsewhere(read(list)), IsEmpty()) << list;
    }
  EXPECT_GT(lists, 40u);
}

/// What several folders of tests use is a library that they link.
TEST(BuildLists, OfTestsReachIntoNoFolderBeside) {
  for (const fs::path& list : lists_below("tests")) {
    if (list.parent_path().filename() == "outside") continue;  // a project of its own
    for (const std::string& source : sources_elsewhere(read(list)))
      EXPECT_EQ(source.find("../"), source.npos) << list << " names " << source;
  }
}

TEST(BuildLists, AreSearchedForSourcesOfOtherFolders) {
  EXPECT_THAT(sources_elsewhere("add_executable(a a.cc ../b/b.cc\n  c/c.c)"),
              ElementsAre("../b/b.cc", "c/c.c"));
  EXPECT_THAT(sources_elsewhere("add_subdirectory(../support support)\nadd_library(a\n b.cc "
                                "${CMAKE_CURRENT_BINARY_DIR}/c.cc)"),
              IsEmpty());
}

}  // namespace
