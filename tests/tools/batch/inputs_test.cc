/// What a command line names: folders, patterns, lists and archives, one image after the other.
#include "tools/inputs/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "tests/tools/batch/tar_builder.h"
#include "tests/tools/subprocess.h"
#include "tools/cli/usage_error.h"
#include "tools/inputs/glob.h"
#include "tools/inputs/name_list.h"
#include "vit/base/error.h"
#include "vit/data/directory.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using data::kNeverStop;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using testing::SizeIs;

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

TEST(Inputs, SurviveCyclesOfLinks) {
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

TEST(Inputs, CountEachFileOnceWhateverAPatternMatches) {
  const Folder folder;
  for (const auto* name :
       {"in/1.jpg", "in/a/2.jpg", "in/a/b/3.jpg", "in/a/b/a/b/4.jpg", "in/c/5.jpg"})
    folder.write(name, "");
  const auto all =
      ElementsAre("in/1.jpg", "in/a/2.jpg", "in/a/b/3.jpg", "in/a/b/a/b/4.jpg", "in/c/5.jpg");
  for (const auto* pattern : {"in/**", "in/**/*", "in/**/**", "i*/**", "**", "in/**/**/*"})
    EXPECT_THAT(listed(folder, {folder.path(pattern)}), all) << pattern;
  EXPECT_THAT(listed(folder, {folder.path("in/**/b")}),
              ElementsAre("in/a/b/3.jpg", "in/a/b/a/b/4.jpg"));
  EXPECT_THAT(listed(folder, {folder.path("in/**/a/**/*.jpg")}),
              ElementsAre("in/a/2.jpg", "in/a/b/3.jpg", "in/a/b/a/b/4.jpg"));
  EXPECT_THAT(listed(folder, {folder.path("**/b/*.jpg")}),
              ElementsAre("in/a/b/3.jpg", "in/a/b/a/b/4.jpg"));
}

TEST(Glob, KnowsWhichFilesItWillTakeLater) {
  const Folder folder;
  folder.write("photos/cam/a.jpg", "");
  const std::string photos = folder.path("photos"), sorted = photos + "/sorted";
  for (const auto* pattern : {"/**", "/*", "/**/*.jpg", "/*/*/*.jpg", "/s*", "/*/*", "/sor?ed/**"})
    EXPECT_TRUE(takes_files_below(photos + pattern, sorted)) << pattern;
  for (const auto* pattern : {"/*.jpg", "/c*/**", "/cam/*", "/*/*/*/*.jpg", "x/**"})
    EXPECT_FALSE(takes_files_below(photos + pattern, sorted)) << pattern;
  EXPECT_FALSE(takes_files_below(photos + "/**", photos + "/.sorted")) << "hidden";
  EXPECT_FALSE(takes_files_below(photos + "/**", folder.path("sorted"))) << "beside it";
  EXPECT_TRUE(takes_files_below(photos + "/**", photos)) << "the folder itself";
}

TEST(Inputs, MatchHiddenNamesOnlyWhereTheyAreWritten) {
  const Folder folder;
  for (const auto* name : {"in/.h/1.jpg", "in/a/.h/2.jpg", "in/a/3.jpg"}) folder.write(name, "");
  EXPECT_THAT(listed(folder, {folder.path("in/**/*.jpg")}), ElementsAre("in/a/3.jpg"));
  EXPECT_THAT(listed(folder, {folder.path("in/**/.h/*.jpg")}),
              ElementsAre("in/.h/1.jpg", "in/a/.h/2.jpg"));
}

TEST(Inputs, CountSkippedFilesByTheirEnding) {
  const Folder folder;
  for (const auto* name : {"in/a.jpg", "in/b.NEF", "in/c.nef", "in/d/e.mp4", "in/README",
                           "in/.hidden.nef", "in/.hidden/f.nef", "in/ends."})
    folder.write(name, "");
  folder.write("in/t.tar", tar_member("1.jpg", "x") + tar_member("x/1.json", "{}") +
                               tar_member("._1.json", "{}") + tar_end());
  const auto skipped = [&](const std::vector<std::string>& operands) {
    return list_inputs({operands, '\n'}, kNeverStop, [](const Input&) { return true; }).skipped;
  };
  EXPECT_EQ(skipped({folder.path("in")}).text(),
            "skipped: 2 .nef, 2 with no ending, 1 .json, 1 .mp4");
  EXPECT_THAT(skipped({folder.path("in")}).counts(),
              ElementsAre(testing::Pair(".json", 1), testing::Pair(".mp4", 1),
                          testing::Pair(".nef", 2), testing::Pair("no ending", 2)));
  EXPECT_EQ(skipped({folder.path("in/a.jpg"), folder.path("in/README")}).text(), "");
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
  std::thread stopper([&] { stop = true; });
  EXPECT_EQ(names.next(), std::nullopt);
  stopper.join();
  close(ends[0]);
  close(ends[1]);
}

TEST(NameList, ReadsOnWhenSomeSignalInterruptsItsWait) {
  struct sigaction nothing {
  }, before{};
  nothing.sa_handler = [](int) {};
  nothing.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &nothing, &before);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::atomic<bool> stop{false}, ended{false};
  std::jthread reader([&] {
    NameList names(ends[0], '\n', stop);
    EXPECT_EQ(names.next(), std::nullopt);
    ended = true;
  });
  // The first may come before the wait; the others then interrupt the wait for an empty pipe.
  for (int i = 0; i < 50; ++i) {
    pthread_kill(reader.native_handle(), SIGUSR1);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  stop = true;
  for (int i = 0; i < 3000 && !ended; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(ended) << "waits in read(), which no flag ends";
  close(ends[1]);
  reader.join();
  close(ends[0]);
  sigaction(SIGUSR1, &before, nullptr);
}

TEST(Inputs, EndTheirWaitForAPipeWithoutAWriter) {
  const Folder folder;
  const std::string fifo = folder.path("names");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::atomic<bool> stop{false};
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop = true;
  });
  const Listed end = list_inputs({{"@" + fifo}, '\n'}, stop, [](const Input&) { return true; });
  EXPECT_FALSE(end.complete);
}

TEST(Inputs, SayWhetherTheListingIsComplete) {
  const Folder folder;
  for (const auto* name : {"in/a.jpg", "in/b.txt", "in/c/d.jpg"}) folder.write(name, "");
  folder.write("in/t.tar", tar_member("1.txt", "x") + tar_member("2.txt", "x") + tar_end());
  const std::vector<std::string> operands{folder.path("in"), folder.path("in/*")};
  const std::atomic<bool> stopped{true};
  size_t taken = 0;
  const TakeInput take = [&](const Input&) { return ++taken < 100; };
  EXPECT_TRUE(list_inputs({operands, '\n'}, kNeverStop, take).complete);
  const size_t all = std::exchange(taken, 0);
  for (const auto& operand : operands) {
    const Listed end = list_inputs({{operand}, '\n'}, stopped, take);
    EXPECT_FALSE(end.complete) << operand;
    EXPECT_EQ(end.skipped.text(), "") << "looked at files after it was stopped";
  }
  taken = 100 - all + 1;
  EXPECT_FALSE(list_inputs({operands, '\n'}, kNeverStop, take).complete);
}

std::string operand_error(const std::vector<std::string>& operands) {
  try {
    check_operands({operands, '\n'});
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(Inputs, StateEveryOperandThatNamesNothing) {
  const Folder folder;
  for (const auto* name : {"in/a.jpg", "raw/b.nef", "raw/c.mp4", "raw/d/e.nef", "empty/.x.jpg"})
    folder.write(name, "");
  folder.write("none.tar", tar_member("1.json", "{}") + tar_end());
  folder.write("broken.tar", "x");
  fs::create_symlink("nowhere", folder.path("link.jpg"));
  const std::string at = folder.path() + "/";
  EXPECT_EQ(operand_error({at + "in", at + "in/a.jpg", at + "in/*.jpg", at + "in/**", at + "*.tar",
                           at + "broken.tar", "/dev/null", "-", "@" + at + "list"}),
            "");
  EXPECT_EQ(operand_error({at + "phtos/"}), at + "phtos/: no such file or folder");
  EXPECT_EQ(operand_error({at + "link.jpg"}), at + "link.jpg: no such file or folder");
  EXPECT_EQ(operand_error({at + "in/a.jpg/b"}), at + "in/a.jpg/b: no such file or folder");
  EXPECT_EQ(operand_error({at + "in/*.png"}),
            at + "in/*.png: no file or folder matches this pattern");
  EXPECT_EQ(operand_error({""}), "'': no such file or folder");
  const std::string expected =
      "expected files that end in .jpg, .png, .webp, .bmp, .tif, .gif, .heic or .avif";
  EXPECT_EQ(operand_error(
                {at + "in", at + "gone.jpg", at + "raw", at + "empty", at + "e*", at + "none.tar"}),
            "5 of 6 inputs name nothing:\n  " + at + "gone.jpg: no such file or folder\n  " + at +
                "raw: no image in it, " + expected + "; skipped: 2 .nef, 1 .mp4\n  " + at +
                "empty: no image in it, " + expected + "\n  " + at + "e*: no image in it, " +
                expected + "\n  " + at + "none.tar: no image in it, " + expected +
                "; skipped: 1 .json");
}

}  // namespace
}  // namespace vit::tools
