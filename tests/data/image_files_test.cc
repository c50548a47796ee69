/// The policy of vit/data/README.md for hidden files, links and endings.
#include "vit/data/image_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/folder.h"

namespace vit::data {
namespace {

namespace fs = std::filesystem;
using test::Folder;
using testing::ElementsAre;
using testing::IsEmpty;

struct Found {
  std::vector<std::string> paths;  ///< relative to the folder
  SkippedFiles skipped;
};

Found images_in(const std::string& folder) {
  Found found;
  visit_images(
      folder,
      [&](const std::string& path) {
        found.paths.push_back(path.substr(folder.size() + 1));
        return true;
      },
      found.skipped);
  return found;
}

TEST(ImageFiles, AreThoseOfEveryDepthInTheOrderOfTheirNames) {
  const Folder folder;
  for (const auto* name : {"b.jpg", "a/2.png", "a/1/x.tiff", "a.webp", "B.BMP", "c.JpEg", "d.tif"})
    folder.write(name, "");
  EXPECT_THAT(images_in(folder.path()).paths,
              ElementsAre("B.BMP", "a/1/x.tiff", "a/2.png", "a.webp", "b.jpg", "c.JpEg", "d.tif"));
}

TEST(ImageFiles, LeaveHiddenEntriesOutUncounted) {
  const Folder folder;
  for (const auto* name : {".a.jpg", ".git/b.jpg", "c/.d.nef"}) folder.write(name, "");
  const Found found = images_in(folder.path());
  EXPECT_THAT(found.paths, IsEmpty());
  EXPECT_EQ(found.skipped.text(), "");
}

TEST(ImageFiles, CountOtherFilesByTheirEnding) {
  const Folder folder;
  for (const auto* name : {"a.jpg", "b.NEF", "c/d.nef", "README", "ends.", "jpg"})
    folder.write(name, "");
  ASSERT_EQ(mkfifo(folder.path("pipe.jpg").c_str(), 0600), 0);
  const Found found = images_in(folder.path());
  EXPECT_THAT(found.paths, ElementsAre("a.jpg"));
  EXPECT_EQ(found.skipped.text(),
            "skipped: 3 with no ending, 2 .nef, 1 special (pipe, socket or device)");
}

TEST(ImageFiles, FollowLinksButNotIntoTheirOwnParents) {
  const Folder folder;
  folder.write("in/a/1.jpg", "");
  folder.write("elsewhere/2.jpg", "");
  fs::create_symlink("../elsewhere/2.jpg", folder.path("in/link.jpg"));
  fs::create_symlink("nowhere", folder.path("in/broken.jpg"));
  fs::create_directory_symlink("../elsewhere", folder.path("in/other"));
  fs::create_directory_symlink("..", folder.path("in/a/up"));
  fs::create_directory_symlink(".", folder.path("in/self"));
  EXPECT_THAT(images_in(folder.path("in")).paths,
              ElementsAre("a/1.jpg", "broken.jpg", "link.jpg", "other/2.jpg"));
}

TEST(ImageFiles, EndWhenTheVisitorHasEnough) {
  const Folder folder;
  for (const auto* name : {"a/1.jpg", "a/2.jpg", "b.jpg"}) folder.write(name, "");
  SkippedFiles skipped;
  int seen = 0;
  EXPECT_FALSE(visit_images(
      folder.path(), [&](const std::string&) { return ++seen < 1; }, skipped));
  EXPECT_EQ(seen, 1);
}

TEST(ImageFiles, UnreadableFoldersAreErrorsUnlessTheVisitorHandlesThem) {
  const Folder folder;
  const std::string nowhere = folder.path("nowhere");
  SkippedFiles skipped;
  const auto none = [](const std::string&) { return true; };
  EXPECT_THROW(visit_images(nowhere, none, skipped), Error);
  std::string reported;
  EXPECT_TRUE(visit_files(nowhere,
                          {.file = none,
                           .unreadable =
                               [&](const std::string& path, const Error& error) {
                                 EXPECT_EQ(path, nowhere);
                                 reported = error.what();
                                 return true;
                               }},
                          skipped));
  EXPECT_EQ(reported, nowhere + ": cannot read this folder: No such file or directory");
}

TEST(ClassFolders, AreTheFoldersAndTheLinksToFolders) {
  const Folder folder;
  for (const auto* name : {"in/b/x", "in/a/x", "in/.h/x", "in/file", "c/x"}) folder.write(name, "");
  fs::create_directory_symlink("../c", folder.path("in/c"));
  EXPECT_THAT(folders_in(folder.path("in")),
              ElementsAre(folder.path("in/a"), folder.path("in/b"), folder.path("in/c")));
}

TEST(Directory, HasItsNamesInOrderWithAnyNumberHeldAtOnce) {
  const Folder folder;
  std::vector<std::string> expected;
  for (int i = 100; i < 150; ++i) expected.push_back("f" + std::to_string(i));
  for (auto name = expected.rbegin(); name != expected.rend(); ++name) folder.write(*name, "");
  folder.write(".hidden", "");
  for (const size_t held : {1u, 2u, 7u, 49u, 50u, 51u, 1000u}) {
    std::vector<std::string> names;
    EXPECT_TRUE(visit_directory(
        folder.path(),
        [&](const DirectoryEntry& entry) {
          names.push_back(entry.name);
          return true;
        },
        kNeverStop, held));
    EXPECT_EQ(names, expected) << held;
  }
}

TEST(Directory, EndsWhenToldAndSaysWhichFolderCannotBeRead) {
  const Folder folder;
  folder.write("a", "");
  folder.write("b", "");
  int seen = 0;
  EXPECT_FALSE(visit_directory(folder.path(), [&](const DirectoryEntry&) { return ++seen < 1; }));
  EXPECT_EQ(seen, 1);
  const std::string nowhere = folder.path("nowhere");
  try {
    visit_directory(nowhere, [](const DirectoryEntry&) { return true; });
    FAIL() << "read a folder that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), nowhere + ": cannot read this folder: No such file or directory");
  }
}

TEST(SkippedFiles, KeepFewEndingsHoweverManyThereAre) {
  SkippedFiles skipped;
  for (int i = 0; i < 100'000; ++i) skipped.add("a." + std::to_string(i));
  skipped.add("a." + std::string(100'000, 'x'));
  EXPECT_EQ(skipped.counts().size(), 101u);
  EXPECT_EQ(skipped.counts().at("other endings"), 100'001u - 100u);
}

}  // namespace
}  // namespace vit::data
