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

/// Sources of other folders that a CMakeLists.txt names, "../a.cc".
std::vector<std::string> sources_above(const std::string& list) {
  std::vector<std::string> found;
  std::istringstream stream(list);
  for (std::string word; stream >> word;) {
    word.erase(std::min(word.find(')'), word.size()));
    const size_t up = word.find("../");
    const std::string ending = fs::path(word).extension();
    if (up != word.npos && (ending == ".cc" || ending == ".c")) found.push_back(word.substr(up));
  }
  return found;
}

/// Code that several folders use is a library that they link.
TEST(BuildLists, NoFolderCompilesSourcesOfAnother) {
  size_t lists = 0;
  for (const auto* top : {"vit", "patch", "weights", "tools", "tests", "bench"})
    for (const auto& entry : fs::recursive_directory_iterator(vit::test::source_dir() / top)) {
      const fs::path folder = fs::relative(entry.path().parent_path(), vit::test::source_dir());
      // A project of its own, which has no library of these tests.
      if (entry.path().filename() != "CMakeLists.txt" || folder == "tests/tools/outside") continue;
      ++lists;
      EXPECT_THAT(sources_above(read(entry.path())), IsEmpty()) << folder;
    }
  EXPECT_GT(lists, 30u);
}

TEST(BuildLists, FindSourcesOfOtherFoldersInALibrarysList) {
  EXPECT_THAT(sources_above("add_executable(a a.cc ../b/b.cc\n  ${PROJECT_SOURCE_DIR}/../c.c)"),
              ElementsAre("../b/b.cc", "../c.c"));
  EXPECT_THAT(sources_above("add_subdirectory(../support support)\nadd_library(a b/c.cc)"),
              IsEmpty());
}

}  // namespace
