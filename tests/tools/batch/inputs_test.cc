/// What a command line names: folders, patterns, lists and archives, one image after the other.
#include "tools/batch/inputs.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/tools/batch/tar_builder.h"
#include "tests/tools/subprocess.h"
#include "tools/batch/directory.h"
#include "tools/batch/name_list.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using testing::SizeIs;

const std::atomic<bool> kNeverStop{false};

std::vector<Input> inputs_of(const std::vector<std::string>& operands, char separator = '\n') {
  std::vector<Input> inputs;
  list_inputs({operands, separator}, kNeverStop, [&](Input input) {
    inputs.push_back(std::move(input));
    return true;
  });
  return inputs;
}

/// Relative to the folder; a problem behind "!!".
std::vector<std::string> listed(const Folder& folder, const std::vector<std::string>& operands,
                                char separator = '\n') {
  std::vector<std::string> lines;
  for (const auto& input : inputs_of(operands, separator)) {
    std::string path = input.path;
    if (path.starts_with(folder.path() + "/")) path.erase(0, folder.path().size() + 1);
    lines.push_back(path + (input.problem.empty() ? "" : " !! " + input.problem));
  }
  return lines;
}

TEST(Directory, HasItsNamesInOrderHoweverFewItHolds) {
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
        held));
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

TEST(Inputs, AreTheImagesOfAFolderInTheOrderOfTheirNames) {
  const Folder folder;
  for (const auto* name : {"in/b.jpg", "in/a/z.PNG", "in/a/b/c.webp", "in/c.txt", "in/.d.jpg",
                           "in/.e/f.jpg", "in/B.tiff", "in/noending"})
    folder.write(name, "");
  EXPECT_THAT(listed(folder, {folder.path("in")}),
              ElementsAre("in/B.tiff", "in/a/b/c.webp", "in/a/z.PNG", "in/b.jpg"));
  EXPECT_THAT(listed(folder, {folder.path("in/")}), SizeIs(4));
}

TEST(Inputs, CountFromOneAndKeepWhatIsListedTwice) {
  const Folder folder;
  folder.write("a.jpg", "");
  const auto inputs = inputs_of({folder.path("a.jpg"), folder.path("a.jpg"), folder.path()});
  ASSERT_THAT(inputs, SizeIs(3));
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(inputs[i].number, i + 1);
}

TEST(Inputs, SurviveLinksThatGoRound) {
  const Folder folder;
  folder.write("in/a/x.jpg", "");
  folder.write("elsewhere/y.jpg", "");
  fs::create_directory_symlink("..", folder.path("in/a/up"));
  fs::create_directory_symlink(".", folder.path("in/self"));
  fs::create_directory_symlink("../elsewhere", folder.path("in/other"));
  fs::create_directory_symlink("../in", folder.path("elsewhere/back"));
  EXPECT_THAT(listed(folder, {folder.path("in")}), ElementsAre("in/a/x.jpg", "in/other/y.jpg"));
}

TEST(Inputs, KeepAFileThatIsNamedWhateverItsEnding) {
  const Folder folder;
  folder.write("photo", "");
  folder.write(".hidden.jpg", "");
  EXPECT_THAT(
      listed(folder, {folder.path("photo"), folder.path(".hidden.jpg"), folder.path("gone.jpg")}),
      ElementsAre("photo", ".hidden.jpg", "gone.jpg"));
}

TEST(Inputs, NameDevicesInsteadOfReadingThemForEver) {
  const auto inputs = inputs_of({"/dev/zero"});
  ASSERT_THAT(inputs, SizeIs(1));
  EXPECT_EQ(inputs[0].problem, "not a regular file: a device, pipe or socket");
}

TEST(Inputs, MatchPatternsThatTheShellLeft) {
  const Folder folder;
  for (const auto* name : {"in/a1.jpg", "in/a2.jpg", "in/b1.jpg", "in/deep/a3.jpg",
                           "in/deep/er/a4.jpg", "in/.a5.jpg", "in/x/deep/a6.jpg"})
    folder.write(name, "");
  EXPECT_THAT(listed(folder, {folder.path("in/a?.jpg")}), ElementsAre("in/a1.jpg", "in/a2.jpg"));
  EXPECT_THAT(listed(folder, {folder.path("in/[b-z]*.jpg")}), ElementsAre("in/b1.jpg"));
  EXPECT_THAT(listed(folder, {folder.path("in/*/a*.jpg")}), ElementsAre("in/deep/a3.jpg"));
  EXPECT_THAT(listed(folder, {folder.path("in/**/a*.jpg")}),
              ElementsAre("in/a1.jpg", "in/a2.jpg", "in/deep/a3.jpg", "in/deep/er/a4.jpg",
                          "in/x/deep/a6.jpg"));
  EXPECT_THAT(listed(folder, {folder.path("in/**/deep/*.jpg")}),
              ElementsAre("in/deep/a3.jpg", "in/x/deep/a6.jpg"));
  EXPECT_THAT(listed(folder, {folder.path("in/d*")}),
              ElementsAre("in/deep/a3.jpg", "in/deep/er/a4.jpg"));
  EXPECT_THAT(listed(folder, {folder.path("in/*.png")}),
              ElementsAre("in/*.png !! no such file, and nothing matches it as a pattern"));
}

TEST(Inputs, TakeAFileWhoseNameLooksLikeAPattern) {
  const Folder folder;
  folder.write("a[1].jpg", "");
  EXPECT_THAT(listed(folder, {folder.path("a[1].jpg")}), ElementsAre("a[1].jpg"));
}

TEST(Inputs, ComeFromListsWithAnyEndOfLine) {
  const Folder folder;
  folder.write("in/x.jpg", "");
  const std::string in = folder.path("in"), a = folder.path("a.jpg");
  const std::string list = folder.write("list.txt", a + "\r\n\n" + in + "\n" + a);
  EXPECT_THAT(listed(folder, {"@" + list}), ElementsAre("a.jpg", "in/x.jpg", "a.jpg"));
  const std::string zeros =
      folder.write("zeros.txt", folder.path("two\nlines.jpg") + std::string(1, '\0') + a);
  EXPECT_THAT(listed(folder, {"@" + zeros}, '\0'), ElementsAre("two\nlines.jpg", "a.jpg"));
}

TEST(Inputs, TakeListedNamesAsTheyAre) {
  const Folder folder;
  folder.write("a1.jpg", "");
  const std::string list = folder.write("list.txt", folder.path("a?.jpg") + "\n@x\n");
  EXPECT_THAT(listed(folder, {"@" + list}), ElementsAre("a?.jpg", "@x"));
}

TEST(NameList, EndsItsWaitWhenStopped) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::atomic<bool> stop{false};
  ASSERT_EQ(write(ends[1], "a\nb", 3), 3);
  NameList names(ends[0], '\n', stop);
  EXPECT_EQ(names.next(), "a");
  std::jthread stopper([&] { stop = true; });
  EXPECT_EQ(names.next(), std::nullopt);
  close(ends[0]);
  close(ends[1]);
}

TEST(Inputs, AreTheImagesWithinArchives) {
  const Folder folder;
  const std::string longer(150, 'n');
  std::string archive = tar_member("0001.jpg", "first") + tar_member("0001.json", "{}") +
                        tar_member("folder/", "", '5') + tar_member("._0002.jpg", "mac") +
                        tar_member("0002.png", std::string(1000, 'x'), '0', "deep/er") +
                        tar_member("link.jpg", "", '2');
  archive += tar_member("././@LongLink", longer + ".jpg" + std::string(1, '\0'), 'L') +
             tar_member("cut", "gnu");
  archive += tar_member("pax", "19 path=pax/é.jpg\n", 'x') + tar_member("cut", "posix") + tar_end();
  folder.write("in/shard.tar", archive);
  EXPECT_THAT(listed(folder, {folder.path("in")}),
              ElementsAre("in/shard.tar!/0001.jpg", "in/shard.tar!/deep/er/0002.png",
                          "in/shard.tar!/" + longer + ".jpg", "in/shard.tar!/pax/é.jpg"));
  std::vector<std::string> contents;
  for (const auto& input : inputs_of({folder.path("in/shard.tar")})) {
    const auto bytes = read_bytes(input);
    contents.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto again = read_bytes(input_of_row(input.number, input.path));
    EXPECT_EQ(again, bytes) << input.path;
  }
  EXPECT_THAT(contents, ElementsAre("first", std::string(1000, 'x'), "gnu", "posix"));
}

TEST(Inputs, KeepTheWholeMembersOfABrokenArchive) {
  const Folder folder;
  const std::string one = tar_member("1.jpg", std::string(600, 'x')), all = one + one;
  const std::string path = folder.path("a.tar");
  folder.write("a.tar", all.substr(0, all.size() - 600));
  EXPECT_THAT(listed(folder, {path}),
              ElementsAre("a.tar!/1.jpg",
                          "a.tar !! this tar archive is cut short: no whole member at byte 3072"));
  folder.write("a.tar", one + std::string(512, 'z'));
  EXPECT_THAT(
      listed(folder, {path}),
      ElementsAre("a.tar!/1.jpg", "a.tar !! damaged tar archive: no member header at byte 1536"));
  folder.write("a.tar", std::string(600, 'z'));
  EXPECT_THAT(listed(folder, {path}),
              ElementsAre("a.tar !! not a tar archive: no member header at byte 0"));
  folder.write("a.tar", "");
  EXPECT_THAT(listed(folder, {path}),
              ElementsAre("a.tar !! this tar archive is cut short: no whole member at byte 0"));
}

TEST(Inputs, SurviveEveryCutOfAnArchive) {
  const Folder folder;
  const std::string whole = tar_member("pax", "19 path=pax/é.jpg\n", 'x') +
                            tar_member("a.jpg", "1234") + tar_member("b.jpg", "5678") + tar_end();
  for (size_t length = 0; length < whole.size(); length += 37) {
    folder.write("a.tar", whole.substr(0, length));
    EXPECT_LE(listed(folder, {folder.path("a.tar")}).size(), 3u) << length;
  }
}

TEST(Inputs, OfRowsSayWhatIsGone) {
  const Folder folder;
  folder.write("a.tar", tar_member("1.jpg", "x") + tar_end());
  EXPECT_EQ(input_of_row(1, folder.path("a.tar!/2.jpg")).problem, "no such member in this archive");
  EXPECT_EQ(input_of_row(1, folder.path("b.tar!/2.jpg")).problem, "no such file");
  EXPECT_EQ(input_of_row(1, folder.path("x.jpg")).problem, "");
}

}  // namespace
}  // namespace vit::tools
