/// `vit pick`: the most diverse and the most uncertain images.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/tools/index/index_call.h"
#include "tools/draw/canvas.h"
#include "tools/pick/uncertain.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

/// Four scenes in three views each, as in/SCENE-VIEW.png.
class PickProgram : public testing::Test {
 protected:
  PickProgram() {
    for (int scene = 0; scene < 4; ++scene)
      for (int view = 0; view < 3; ++view)
        write_image(
            cropped(planted_image(96, 64, static_cast<unsigned>(scene)), 1.0 - 0.02 * view),
            folder_.path("in/" + std::to_string(scene) + "-" + std::to_string(view) + ".png"));
    const Finished finished = index_images({folder_.path("in"), "-q", "-o", index_});
    EXPECT_EQ(finished.status, 0) << finished.err;
  }

  Finished pick(std::vector<std::string> more) {
    more.insert(more.begin(), {"pick", index_});
    return run(more);
  }

  std::vector<std::string> names(std::vector<std::string> more) {
    more.push_back("--json");
    const Finished finished = pick(more);
    EXPECT_EQ(finished.status, 0) << finished.err;
    std::vector<std::string> names;
    const json result = json::parse(finished.out);
    for (const auto& image : result["images"])
      names.push_back(fs::path(image["path"].get<std::string>()).filename().string());
    return names;
  }

  /// Classes of all images, as .csv or .jsonl.
  std::string classify(const char* name, const char* top = "5") {
    const std::string out = folder_.path(name);
    const Finished finished =
        run({"batch", "-q", "-m", golden("hf_vit"), "-k", top, folder_.path("in"), "-o", out});
    EXPECT_EQ(finished.status, 0) << finished.err;
    return out;
  }

  Folder folder_;
  std::string index_ = folder_.path("photos.index");
};

std::set<char> scenes_of(const std::vector<std::string>& names) {
  std::set<char> scenes;
  for (const auto& name : names) scenes.insert(name.front());
  return scenes;
}

TEST_F(PickProgram, TakesOneImageOfEachSceneFirst) {
  EXPECT_EQ(scenes_of(names({"4"})).size(), 4u);
  EXPECT_EQ(names({"4", "--threads", "1"}), names({"4", "--threads", "3"}));
}

TEST_F(PickProgram, StaysAwayFromWhatIsLabelled) {
  const std::string list = folder_.write(
      "labelled.txt", folder_.path("in/0-0.png") + "\r\n\n" + folder_.path("in/2-1.png") + "\n");
  const std::string table =
      folder_.write("labelled.csv", "rank,path\n1," + folder_.path("in/0-0.png") +
                                        "\n2,in/2-1.png\n3," + folder_.path("in/2-1.png") + "\n");
  for (const auto& labelled : {list, table})
    EXPECT_EQ(scenes_of(names({"2", "--labelled", labelled})), (std::set<char>{'1', '3'}));
  fs::create_directories(folder_.path("done"));
  for (const auto* name : {"1-0.png", "3-0.png"})
    fs::rename(folder_.path("in") + "/" + name, folder_.path("done") + "/" + name);
  ASSERT_EQ(index_images({folder_.path("in"), folder_.path("done"), "-q", "-o", index_}).status, 0);
  EXPECT_EQ(scenes_of(names({"2", "--labelled", folder_.path("done")})),
            (std::set<char>{'0', '2'}));
  const auto all = names({"99", "--labelled", folder_.path("done"), "-q"});
  EXPECT_EQ(all.size(), 10u);
  EXPECT_THAT(all, testing::Not(testing::Contains("1-0.png")));
}

/// Names by the margin between the two best classes, the smallest first.
std::vector<std::string> by_margin(const std::string& rows) {
  std::vector<std::pair<double, std::string>> margins;
  std::istringstream lines(rows);
  for (std::string line; std::getline(lines, line);) {
    const json row = json::parse(line);
    if (!row.contains("predictions")) continue;
    const json& best = row["predictions"];
    margins.emplace_back(
        best[0]["probability"].get<double>() - best[1]["probability"].get<double>(),
        fs::path(row["path"].get<std::string>()).filename().string());
  }
  std::ranges::sort(margins);
  std::vector<std::string> names;
  for (const auto& [margin, name] : margins) names.push_back(name);
  return names;
}

TEST_F(PickProgram, TakesTheSmallestMarginsOfRowsAndOfAModel) {
  const std::string rows = classify("rows.jsonl");
  const auto expected = by_margin(read_file(rows));
  ASSERT_EQ(expected.size(), 12u);
  for (const auto& way :
       std::vector<std::vector<std::string>>{{"--uncertain", rows},
                                             {"--uncertain", classify("rows.csv", "2")},
                                             {"--uncertain", classify("rows.db")},
                                             {"-m", golden("hf_vit")}}) {
    auto arguments = way;
    arguments.insert(arguments.begin(), "12");
    EXPECT_EQ(names(arguments), expected) << way.front();
    arguments.front() = "3";
    EXPECT_EQ(names(arguments), (std::vector<std::string>(expected.begin(), expected.begin() + 3)));
  }
  const auto diverse = names({"4", "--uncertain", rows, "--among", "12"});
  EXPECT_EQ(scenes_of(diverse).size(), 4u);
  const auto rest = names({"12", "--uncertain", rows, "-q", "--labelled",
                           folder_.write("l.txt", folder_.path("in/" + expected.front()))});
  EXPECT_EQ(rest, (std::vector<std::string>(expected.begin() + 1, expected.end())));
}

TEST(Doubt, IsLargestWhereTwoClassesOrYesAndNoAreEquallyLikely) {
  const auto best = [](float first, float second) {
    return std::vector<Prediction>{{0, "a", first}, {1, "b", second}};
  };
  EXPECT_NEAR(doubt_of(best(0.5f, 0.5f), false), 1.0f, 1e-6);
  EXPECT_NEAR(doubt_of(best(0.7f, 0.1f), false), 0.4f, 1e-6);
  EXPECT_NEAR(doubt_of(std::vector<Prediction>{{0, "a", 0.7f}}, false), 0.3f, 1e-6);
  EXPECT_NEAR(doubt_of(best(0.9f, 0.9f), true), 0.2f, 1e-6);
  EXPECT_NEAR(doubt_of(best(0.01f, 0.01f), true), 0.02f, 1e-6);
  EXPECT_NEAR(doubt_of(best(0.5f, 0.1f), true), 1.0f, 1e-6);
}

TEST_F(PickProgram, WritesEveryForm) {
  const std::string rows = classify("rows.csv");
  for (const auto* name : {"a.csv", "a.json", "a.html"})
    ASSERT_EQ(pick({"3", "--uncertain", rows, "-o", folder_.path(name)}).status, 0);
  EXPECT_THAT(read_file(folder_.path("a.csv")),
              testing::StartsWith("rank,uncertainty,path,width,height,bytes,guesses\n1,0."));
  EXPECT_EQ(json::parse(read_file(folder_.path("a.json")))["by"], "uncertainty");
  EXPECT_THAT(read_file(folder_.path("a.html")), HasSubstr("<h2>Most uncertain</h2>"));
  EXPECT_THAT(pick({"1"}).out, testing::EndsWith(".png\n"));
}

TEST_F(PickProgram, SaysWhatIsLeftOut) {
  const std::string rows = classify("rows.csv");
  write_image(planted_image(50, 50, 9), folder_.path("in/new.png"));
  ASSERT_EQ(index_images({folder_.path("in"), "-q", "-o", index_}).status, 0);
  const Finished finished = pick({"13", "--uncertain", rows});
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.err, HasSubstr("rows.csv: has no classes for 1 image of the index; they are "
                                      "not picked"));
  EXPECT_THAT(finished.err, HasSubstr("photos.index: 12 images to pick from, fewer than the 13 "
                                      "asked for"));
  fs::remove(folder_.path("in/0-0.png"));
  const Finished gone = pick({"12", "-m", golden("hf_vit")});
  EXPECT_EQ(gone.status, 0);
  EXPECT_THAT(gone.err, HasSubstr("0-0.png: no such file"));
}

TEST_F(PickProgram, RefusesWhatItCannotDo) {
  const auto says = [](const Finished& finished, int status, const char* text) {
    EXPECT_EQ(finished.status, status);
    EXPECT_THAT(finished.err, HasSubstr(text));
    EXPECT_EQ(finished.out, "");
  };
  says(run({"pick", index_}), 2, "expected an index file and how many images to pick");
  says(pick({"0"}), 2, "'N' got '0', expected a whole number from 1");
  says(pick({"3", "--among", "5"}), 2, "--among needs --uncertain or -m");
  says(pick({"3", "--uncertain", "a.csv", "-m", "x"}), 2, "give one of --uncertain and -m");
  says(pick({"3", "--uncertain", "a.npy"}), 2, "'a.npy' is not a file of classes");
  says(pick({"3", "--uncertain", folder_.path("none.csv")}), 1, "none.csv: no such file");
  says(pick({"3", "--labelled", folder_.path("none")}), 1, "none: no such file or folder");
  says(pick({"3", "--labelled", folder_.write("l.txt", "elsewhere.png\n")}), 1,
       "l.txt: names no image of the index");
  says(pick({"3", "--labelled", folder_.write("l.csv", "file\na.png\n")}), 1,
       "l.csv: has no column 'path'");
  const std::string rows = classify("rows.csv");
  says(pick({"3", "--uncertain", rows, "--among", "2"}), 2, "'--among' got '2'");
  fs::rename(folder_.path("in"), folder_.path("moved"));
  ASSERT_EQ(index_images({folder_.path("moved"), "-q", "--restart", "-o", index_}).status, 0);
  says(pick({"3", "--uncertain", rows}), 1, "rows.csv: has no row of an image of the index");
}

}  // namespace
}  // namespace vit::tools
