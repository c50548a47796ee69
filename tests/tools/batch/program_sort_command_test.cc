/// `vit sort`: the files of rows into folders, without a model.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/tools/batch/batch_call.h"
#include "tests/tools/batch/tar_builder.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> files_under(const std::string& folder) {
  std::vector<std::string> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (!entry.is_directory()) files.push_back(entry.path().lexically_relative(folder).string());
  std::ranges::sort(files);
  return files;
}

Finished sort(std::vector<std::string> more) {
  more.insert(more.begin(), "sort");
  return run(more);
}

/// A file of results with these rows: class, label and probability of each path.
struct Answer {
  std::string path;
  size_t index;
  std::string label;
  double probability;
};

std::string write_results(const Folder& folder, const std::vector<Answer>& answers) {
  std::string text = R"({"number":0,"status":"header","header":{"options":{"top":1}}})"
                     "\n";
  size_t number = 0;
  for (const auto& answer : answers) {
    nlohmann::ordered_json row{{"number", ++number}, {"path", answer.path}, {"status", "ok"}};
    if (answer.label.empty()) {
      row["status"] = "failed";
      row["reason"] = "is empty";
    } else {
      row["predictions"] = {
          {{"class", answer.index}, {"label", answer.label}, {"probability", answer.probability}}};
    }
    text += row.dump() + "\n";
  }
  return folder.write("r.jsonl", text);
}

/// Two cameras with files of the same name, one unsure and one failed file.
std::string camera_results(const Folder& folder) {
  const auto photo = [&](const std::string& name) { return folder.write("in/" + name, name); };
  return write_results(folder, {{photo("cam1/IMG_1.JPG"), 7, "fox", 0.9},
                                {photo("cam2/IMG_1.JPG"), 7, "fox", 0.95},
                                {photo("cam2/IMG_2.JPG"), 9, "deer", 0.85},
                                {photo("cam2/IMG_3.JPG"), 9, "deer", 0.3},
                                {photo("cam2/IMG_4.JPG"), 0, "", 0}});
}

TEST(Sort, PlacesEveryKindOfRowAndSaysHowManyWentWhere) {
  for (const std::string way : {"copy", "link", "move"}) {
    const Folder folder;
    const std::string results = camera_results(folder), sorted = folder.path("sorted");
    const Finished done =
        sort({results, "--" + way + "-to", sorted, "--min-probability", "0.8", "--unsure-folder",
              "look", "--failed-folder", "broken", "--keep-folders"});
    EXPECT_EQ(done.status, 0);
    const std::string word = way == "copy" ? "copied" : way == "link" ? "linked" : "moved";
    EXPECT_EQ(done.err, "vit: " + results + ": 5 rows, 3 " + word +
                            " into 2 folders (fox 2, deer 1), 1 into look, 1 into broken\n");
    auto files = files_under(sorted);
    std::erase(files, ".vit-moves.jsonl");
    EXPECT_THAT(files,
                ElementsAre("broken/cam2/IMG_4.JPG", "deer/cam2/IMG_2.JPG", "fox/cam1/IMG_1.JPG",
                            "fox/cam2/IMG_1.JPG", "look/cam2/IMG_3.JPG"));
    EXPECT_EQ(read_file(sorted + "/fox/cam2/IMG_1.JPG"), "cam2/IMG_1.JPG");
    EXPECT_EQ(fs::is_symlink(sorted + "/deer/cam2/IMG_2.JPG"), way == "link");
    EXPECT_EQ(files_under(folder.path("in")).size(), way == "move" ? 0u : 5u);
    const Finished again =
        sort({results, "--" + way + "-to", sorted, "--min-probability", "0.8", "--unsure-folder",
              "look", "--failed-folder", "broken", "--keep-folders"});
    EXPECT_EQ(again.err, done.err) << "done twice";
    EXPECT_EQ(again.status, 0);
  }
}

TEST(Sort, LeavesFailedFilesAloneUnlessAsked) {
  const Folder folder;
  const std::string results = camera_results(folder), sorted = folder.path("sorted");
  const Finished done = sort({results, "--move-to", sorted});
  EXPECT_EQ(done.err, "vit: " + results + ": 5 rows, 4 moved into 2 folders (deer 2, fox 2)\n");
  EXPECT_THAT(files_under(folder.path("in")), ElementsAre("cam2/IMG_4.JPG"));
  EXPECT_THAT(files_under(sorted + "/fox"),
              ElementsAre(testing::MatchesRegex("IMG_1-[0-9a-f]{16}\\.JPG"), "IMG_1.JPG"));
}

TEST(Sort, ReadsTheRowsOfBatchInEveryFormat) {
  for (const auto* name : {"r.csv", "r.jsonl", "r.db"}) {
    const Folder folder;
    write_images(folder, 15);  // 6 and 13 are broken
    ASSERT_EQ(batch({folder.path("in"), "-o", folder.path(name), "--copy-to", folder.path("a"),
                     "--min-probability", "0.35"})
                  .status,
              0);
    const Finished done = sort({folder.path(name), "--copy-to", folder.path("b"), "--quiet"});
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(done.err, "");
    EXPECT_EQ(files_under(folder.path("b")), files_under(folder.path("a"))) << name;
    EXPECT_EQ(files_under(folder.path("b")).size(), 13u);
  }
}

TEST(Sort, MovesBackWhatItMoved) {
  const Folder folder;
  const std::string results = camera_results(folder), sorted = folder.path("sorted");
  const std::string photo = folder.path("in/cam1/IMG_1.JPG");
  const timespec times[2] = {{1'557'000'000, 0}, {1'557'012'345, 678'000'000}};
  ASSERT_EQ(utimensat(AT_FDCWD, photo.c_str(), times, 0), 0);
  ASSERT_EQ(chmod(photo.c_str(), 0640), 0);
  const auto before = files_under(folder.path("in"));
  ASSERT_EQ(sort({results, "--move-to", sorted, "--failed-folder", "failed"}).status, 0);
  EXPECT_THAT(files_under(folder.path("in")), testing::IsEmpty());
  fs::rename(sorted, folder.path("renamed"));  // the journal goes with its folder
  const Finished back = sort({"--undo", folder.path("renamed")});
  EXPECT_EQ(back.status, 0);
  EXPECT_EQ(back.err, "vit: " + folder.path("renamed") + ": 5 files moved back\n");
  EXPECT_EQ(files_under(folder.path("in")), before);
  EXPECT_EQ(read_file(photo), "cam1/IMG_1.JPG");
  EXPECT_TRUE(fs::is_empty(folder.path("renamed")));
  struct stat status {};
  ASSERT_EQ(stat(photo.c_str(), &status), 0);
  EXPECT_EQ(status.st_mtim.tv_sec, 1'557'012'345);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  const Finished nothing = sort({"--undo", folder.path("renamed")});
  EXPECT_EQ(nothing.status, 1);
  EXPECT_THAT(nothing.err, HasSubstr(": nothing to undo: there is no .vit-moves.jsonl in it"));
}

TEST(Sort, NeverReplacesAFileWhenItMovesBack) {
  const Folder folder;
  const std::string results = camera_results(folder), sorted = folder.path("sorted");
  ASSERT_EQ(sort({results, "--move-to", sorted}).status, 0);
  const std::string taken = folder.write("in/cam2/IMG_2.JPG", "a new photograph");
  const Finished back = sort({"--undo", sorted});
  EXPECT_EQ(back.status, 1);
  EXPECT_EQ(back.err, "vit: " + sorted + "/deer/IMG_2.JPG: stays, because " + taken +
                          " exists again\nvit: " + sorted +
                          ": 3 files moved back, 1 not; see above\n");
  EXPECT_EQ(read_file(taken), "a new photograph");
  EXPECT_THAT(files_under(sorted), ElementsAre(".vit-moves.jsonl", "deer/IMG_2.JPG"));
  fs::remove(taken);
  EXPECT_EQ(sort({"--undo", sorted, "-q"}).status, 0);
  EXPECT_EQ(read_file(taken), "cam2/IMG_2.JPG");
}

TEST(Sort, LosesNothingWhenItIsKilledAtAnyMoment) {
  constexpr size_t kFiles = 3000;
  const Folder folder;
  std::vector<Answer> answers;
  for (size_t i = 0; i < kFiles; ++i) {
    const std::string name = std::to_string(i % 50) + "/" + std::to_string(i / 50) + ".jpg";
    answers.push_back(
        {folder.write("in/" + name, name), i % 7, "class " + std::to_string(i % 7), 0.5});
  }
  const std::string results = write_results(folder, answers), sorted = folder.path("sorted");
  Call move, undo;
  move.arguments = {"sort", results, "--move-to", sorted};
  undo.arguments = {"sort", "--undo", sorted};
  for (const int milliseconds : {15, 25, 40, 60}) {
    Running running(move);
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    running.send(SIGKILL);
    running.wait();
    const size_t here = files_under(folder.path("in")).size();
    auto there = files_under(sorted);
    std::erase_if(there, [](const std::string& name) { return name.starts_with(".vit-moves"); });
    EXPECT_EQ(here + there.size(), kFiles);
  }
  if (fs::exists(sorted + "/.vit-moves.jsonl"))  // what a kill within a write leaves
    std::ofstream(sorted + "/.vit-moves.jsonl", std::ios::app) << R"({"from":"/ha)";
  const Finished done = run(move);
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr(": 3,000 rows, 3,000 moved into 7 folders (class 0 429, "));
  {
    Running running(undo);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    running.send(SIGKILL);
    running.wait();
  }
  if (fs::exists(sorted + "/.vit-moves.jsonl")) {
    EXPECT_EQ(run(undo).status, 0);
  }
  for (const auto& answer : answers)
    EXPECT_EQ(read_file(answer.path), fs::path(answer.path).lexically_relative(folder.path("in")));
}

TEST(Sort, ReportsFilesThatCannotBeMoved) {
  const Folder folder;
  const std::string file = folder.write("in/a.jpg", "a"), link = folder.path("in/b.jpg");
  fs::create_symlink("a.jpg", link);
  const std::string tar = folder.write("t.tar", tar_member("m.jpg", "m") + tar_end());
  const std::string results = write_results(
      folder, {{link, 1, "fox", 1}, {tar + "!/m.jpg", 1, "fox", 1}, {"gone.jpg", 1, "fox", 1}});
  const Finished done = sort({results, "--move-to", folder.path("sorted")});
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.err,
            "vit: 3 files of earlier rows could not be sorted, the first: " + link +
                ": is a symbolic link, which might lead nowhere after a move; use --copy-to DIR or "
                "--link-to DIR\nrelative names are looked up in this folder: run it where `vit "
                "batch` ran\nvit: " +
                results + ": 3 rows, 0 moved into 0 folders\n");
  EXPECT_FALSE(fs::exists(folder.path("sorted/.vit-moves.jsonl")));
  EXPECT_TRUE(fs::exists(link));
}

TEST(Sort, ExplainsWhatIsWrongWithItsCall) {
  const Folder folder;
  const std::string results = camera_results(folder), sorted = folder.path("sorted");
  const auto says = [](const Finished& finished, int status, const std::string& text) {
    EXPECT_EQ(finished.status, status);
    EXPECT_THAT(finished.err, HasSubstr(text));
  };
  says(sort({}), 2, "no file of results given, expected the output of `vit batch`");
  says(sort({results}), 2,
       "no folder to sort into given, expected --copy-to, --link-to or --move-to DIR");
  says(sort({results, "--copy-to", sorted, "--move-to", sorted}), 2,
       "--copy-to and --move-to given, expected one of them");
  says(sort({results, "--undo", sorted}), 2, "--undo DIR given with other names");
  says(sort({"x.npy", "--copy-to", sorted}), 2, "'x.npy' is not a file of classes");
  says(sort({folder.path("x.csv"), "--copy-to", sorted}), 1, "x.csv: no such file");
  says(sort({results, "--copy-to", sorted, "--unsure-folder", "a/b"}), 2,
       "option '--unsure-folder' got 'a/b', expected the name of a folder without '/'");
  says(sort({results, "--copy-to", sorted, "--unsure-folder", "fox"}), 2,
       "option '--unsure-folder' got 'fox', which is the folder of class 7");
  says(sort({results, "--copy-to", sorted, "--failed-folder", "unsure"}), 2,
       "option '--failed-folder' got 'unsure', which is the folder of unsure files");
  says(sort({folder.write("notes.csv", "a,b\n1,2\n"), "--copy-to", sorted}), 1, "notes.csv: ");
  EXPECT_FALSE(fs::exists(sorted));
}

}  // namespace
}  // namespace vit::tools
