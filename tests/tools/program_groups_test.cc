/// --groups as a user gives it. The model of hf_vit has ten of ImageNet's classes: seven fish, of
/// which three are sharks, and three birds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/tools/subprocess.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kModel = golden("hf_vit");
const std::string kImage = golden_image("hf_vit");

Finished with_model(const std::string& command, std::vector<std::string> more) {
  more.insert(more.begin(), {command, "-m", kModel});
  return run(more);
}

/// The probability of each label.
std::map<std::string, double> answer(const std::string& model, std::vector<std::string> more) {
  more.insert(more.begin(), {"classify", "-q", "-m", model, "-k", "10", "--json", kImage});
  const Finished finished = run(more);
  EXPECT_EQ(finished.status, 0) << finished.err;
  std::map<std::string, double> found;
  const json written = json::parse(finished.out);
  for (const auto& p : written["images"][0]["predictions"]) found[p["label"]] = p["probability"];
  return found;
}

TEST(GroupsProgram, ClassifyAddsUpTheClassesOfEachGroup) {
  const auto classes = answer(kModel, {});
  const auto groups = answer(kModel, {"--groups", "shark,bird"});
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_NEAR(
      groups.at("shark"),
      classes.at("great white shark") + classes.at("tiger shark") + classes.at("hammerhead"), 1e-6);
  EXPECT_NEAR(groups.at("bird"), classes.at("cock") + classes.at("hen") + classes.at("ostrich"),
              1e-6);
  EXPECT_NEAR(groups.at("shark") + groups.at("bird") + groups.at("other"), 1.0, 1e-6);
  const Finished shown = with_model("classify", {kImage, "--groups", "fish,birds"});
  EXPECT_EQ(shown.status, 0);
  EXPECT_EQ(shown.err, "vit: groups of 10 classes: fish 7, birds 3\n");
  EXPECT_THAT(shown.out, HasSubstr("  1  fish    97.05 %"));
  const auto written =
      json::parse(with_model("classify", {kImage, "--json", "--groups", "bird"}).out);
  EXPECT_EQ(written["groups"].dump(),
            R"([{"classes":"7-9","name":"bird"},{"classes":"0-6","name":"other"}])");
}

TEST(GroupsProgram, ClassifyTakesTheHighestScoreWhereClassesAreScoredAlone) {
  const Folder folder;
  for (const auto* name : {"model.safetensors", "config.json", "preprocessor_config.json"})
    if (fs::exists(kModel + "/" + name))
      folder.write("m/" + std::string(name), read_file(kModel + "/" + name));
  auto config = json::parse(read_file(kModel + "/config.json"));
  config["problem_type"] = "multi_label_classification";
  folder.write("m/config.json", config.dump());
  const auto classes = answer(folder.path("m"), {});
  const auto groups = answer(folder.path("m"), {"--groups", "bird"});
  EXPECT_EQ(groups.at("bird"),
            std::max({classes.at("cock"), classes.at("hen"), classes.at("ostrich")}));
}

TEST(GroupsProgram, BatchAndSortWorkOnGroups) {
  const Folder folder;
  folder.write("in/a.png", read_file(kImage));
  const std::string list = folder.write("g.txt", "swims = fish\nwalks = n01503061\n");
  const std::string rows = folder.path("r.csv"), sorted = folder.path("sorted");
  const std::vector<std::string> call{"-q", folder.path("in"), "-o",  rows, "--groups",
                                      list, "--copy-to",       sorted};
  const Finished done = with_model("batch", call);
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(read_file(rows), HasSubstr("a.png,ok,,0,swims,0.97"));
  EXPECT_TRUE(fs::exists(sorted + "/swims/a.png"));
  EXPECT_EQ(with_model("batch", call).status, 0) << "resumed";
  ASSERT_EQ(run({"sort", rows, "--copy-to", folder.path("again")}).status, 0);
  EXPECT_TRUE(fs::exists(folder.path("again/swims/a.png")));

  folder.write("g.txt", "swims = fish\n");
  const Finished changed = with_model("batch", call);
  EXPECT_EQ(changed.status, 1);
  EXPECT_THAT(changed.err, HasSubstr(R"(options.groups is [{"name":"swims","classes":"0-6"},)"));
}

TEST(GroupsProgram, SortAddsUpTheClassesInTheRows) {
  const Folder folder;
  folder.write("in/a.png", read_file(kImage));
  for (const std::string name : {"r.csv", "r.jsonl", "r.db"}) {
    const std::string rows = folder.path(name), sorted = folder.path("s-" + name);
    ASSERT_EQ(with_model("batch", {"-q", folder.path("in"), "-o", rows}).status, 0);
    const Finished done = run(
        {"sort", rows, "--link-to", sorted, "--groups", "fish,bird", "--min-probability", "0.8"});
    EXPECT_EQ(done.status, 0);
    EXPECT_EQ(done.err, "vit: " + rows + ": 1 row, 1 linked into 1 folder (fish 1)\n");
    EXPECT_TRUE(fs::is_symlink(sorted + "/fish/a.png")) << "no single class has 0.8";
  }
  const Finished refused =
      run({"sort", folder.path("r.csv"), "--link-to", folder.path("x"), "--groups", "unicorn"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("--groups: none of the groups has a class of "));
  EXPECT_FALSE(fs::exists(folder.path("x")));
}

TEST(GroupsProgram, EvalTakesGroupsAsTruths) {
  const Folder folder;
  for (const auto* place : {"fish/a.png", "great white shark/b.png", "n01484850/c.png", "9/d.png"})
    folder.write("data/" + std::string(place), read_file(kImage));
  const Finished done = with_model("eval", {"--json", "-q", folder.path("data"), "--groups",
                                            "fish,bird", "-o", folder.path("report")});
  ASSERT_EQ(done.status, 0) << done.err;
  const auto figures = json::parse(done.out);
  EXPECT_EQ(figures["images"], 4);
  EXPECT_EQ(figures["right"], 3) << "the ostrich is none";
  EXPECT_EQ(figures["classes"][0]["label"], "fish");
  EXPECT_EQ(figures["classes"][0]["right"], 3);
  EXPECT_THAT(read_file(folder.path("report/predictions.csv")), HasSubstr("d.png,bird,fish,0.97"));
  folder.write("data/cat/e.png", read_file(kImage));
  const Finished wrong = with_model("eval", {folder.path("data"), "--groups", "fish,bird"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.err, HasSubstr("class folder 'cat' is not one of the groups (fish, bird)"));
}

TEST(GroupsProgram, RefusesWhatMakesNoSense) {
  const Folder folder;
  const auto says = [](const Finished& finished, int status, const std::string& text) {
    EXPECT_EQ(finished.status, status);
    EXPECT_THAT(finished.err, HasSubstr(text));
    EXPECT_EQ(finished.out, "");
  };
  says(with_model("classify", {kImage, "--groups", "fish", "--logits"}), 2,
       "--logits and --groups given, expected one of them");
  says(with_model("classify", {kImage, "--groups", "no/such"}), 2,
       "option '--groups' got 'no/such': no such file");
  says(with_model("classify", {kImage, "--groups", "groups.txt"}), 2,
       "option '--groups' got 'groups.txt': no such file");
  says(with_model("classify", {kImage, "--groups", "fish,"}), 2,
       "option '--groups' got an empty name");
  says(with_model("classify", {kImage, "--groups", "fish,fish"}), 2,
       "option '--groups' got 'fish' twice");
  says(with_model("classify", {kImage, "--groups", "dog"}), 1,
       "--groups: no class of ViTForImageClassification is 'dog' or below it in WordNet");
  says(
      with_model("classify", {kImage, "--groups", folder.write("g", "a = tench\nb = n01440764\n")}),
      1, "g: line 2: class 0 (tench) is in 'a' and in 'b'");
  says(with_model("batch", {kImage, "-o", folder.path("r.csv"), "--groups", "n99999999"}), 1,
       "--groups: n99999999 is not the WordNet id of an ImageNet-1k class");
  EXPECT_FALSE(fs::exists(folder.path("r.csv")));
  says(run({"classify", "-m", golden("timm_vit"), golden_image("timm_vit"), "--groups", "dog"}), 1,
       "--groups: 'dog' is of WordNet, and ");
  folder.write("data/1/a.png", read_file(kImage));
  says(with_model("eval", {folder.path("data"), "--groups", "fish", "--calibrate",
                           folder.path("c.safetensors")}),
       2, "--calibrate fits the model's own classes; leave out --groups");
}

}  // namespace
}  // namespace vit::tools
