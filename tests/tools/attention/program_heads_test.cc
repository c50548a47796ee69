#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "patch/image/image.h"
#include "tests/support/paths.h"
#include "tests/tools/subprocess.h"
#include "vit/interpret/head_effects.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

Finished heads(const std::string& model, std::vector<std::string> more) {
  std::vector<std::string> arguments{"heads", golden(model), "--images", golden_image(model)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

std::vector<float> logits_of(const std::string& model, std::vector<std::string> more) {
  more.insert(more.begin(), {"classify", "-m", golden(model), "--json", "--logits"});
  more.push_back(golden_image(model));
  const Finished finished = run(more);
  EXPECT_EQ(finished.status, 0) << finished.err;
  return nlohmann::json::parse(finished.out)["images"][0]["logits"];
}

TEST(Heads, PrintsATableOfEveryHead) {
  const Finished finished = heads("timm_vit", {});
  EXPECT_EQ(finished.status, 0) << finished.err;
  for (const auto* head : {"0:0", "0:1", "0:2", "1:0", "1:1", "1:2"})
    EXPECT_THAT(finished.out, HasSubstr(std::string("   ") + head + " "));
  EXPECT_THAT(finished.out, HasSubstr("2 layers of 3 heads, 1 image, importance measured on 1"));
}

TEST(Heads, WritesEveryFormat) {
  const Folder folder;
  for (const auto* name : {"h.csv", "h.json", "h.png", "h.jpeg", "h.svg", "h.pdf", "h.html"})
    EXPECT_EQ(heads("timm_vit", {"-o", folder.path(name)}).status, 0) << name;
  const std::string csv = read_file(folder.path("h.csv"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 7);
  const auto json = nlohmann::json::parse(read_file(folder.path("h.json")));
  ASSERT_EQ(json["heads"].size(), 6u);
  EXPECT_GT(json["heads"][0]["kl"].get<double>(), 0.0);
  EXPECT_GT(json["heads"][0]["estimate"].get<double>(), 0.0);
  EXPECT_FALSE(json["heads"][0]["dead"].get<bool>());
  EXPECT_GT(patch::read_image(folder.path("h.png")).width, 800u);
  const std::string page = read_file(folder.path("h.html"));
  for (const auto* part : {"<table>", "<main>", "aria-label=\"Pattern of each head",
                           "alt=\"Mean attention of head 1:2, ", "<dt>KL without</dt><dd>"})
    EXPECT_THAT(page, HasSubstr(part));
}

TEST(Heads, ReadsAnImageAsOtherCommandsDo) {
  const Folder folder;
  const std::string model = golden("timm_vit"), image = golden_image("timm_vit");
  const std::string expected = run({"heads", model, "--images", image}).out;
  Call pipe;
  pipe.arguments = {"heads", model, "--images", "-"};
  pipe.input = read_file(image);
  const Finished piped = run(pipe);
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_EQ(piped.out, expected);

  const std::string archive = folder.path("photos.tar");
  Call pack;
  pack.program = "tar";
  pack.arguments = {"-cf", archive, "-C", fs::path(image).parent_path(),
                    fs::path(image).filename()};
  ASSERT_EQ(run(pack).status, 0);
  const std::string member = archive + "!/" + fs::path(image).filename().string();
  const Finished packed = run({"heads", model, "--images", member});
  EXPECT_EQ(packed.status, 0) << packed.err;
  EXPECT_EQ(packed.out, expected);
}

TEST(Heads, SaysThatAnImageIsDamaged) {
  const Folder folder;
  // A JPEG whose data ends in the middle.
  std::string jpeg = read_file(test::source_dir() / "tools/pictures/grid.jpg");
  jpeg.resize(jpeg.size() / 4 * 3);
  while (jpeg.back() == '\xff') jpeg.pop_back();
  const std::string half = folder.write("half.jpg", jpeg + "\xff\xd9");
  const Finished finished = run({"heads", golden("timm_vit"), "--images", half});
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.err, HasSubstr(half + ": damaged: the data ends after "));
}

TEST(Heads, MeasuresNothingWhenAskedNotTo) {
  const Folder folder;
  EXPECT_EQ(heads("timm_vit", {"--importance-images", "0", "-o", folder.path("h.json")}).status, 0);
  const auto json = nlohmann::json::parse(read_file(folder.path("h.json")));
  EXPECT_EQ(json["images_with_heads_disabled"], 0);
  EXPECT_FALSE(json["heads"][0].contains("kl"));
}

TEST(Heads, MergesTokens) {
  const Folder folder;
  const Finished merged = heads("timm_vit", {"--merge-tokens", "1", "-o", folder.path("h.json")});
  EXPECT_EQ(merged.status, 0) << merged.err;
  const auto json = nlohmann::json::parse(read_file(folder.path("h.json")));
  EXPECT_THAT(json["model"].get<std::string>(), HasSubstr("merging 1 tokens"));
  EXPECT_FALSE(json["heads"][0].contains("estimate"));
  EXPECT_EQ(heads("timm_vit", {"--merge-tokens", "500"}).status, 1);
}

TEST(Heads, ImportanceIsThatOfARunWithoutTheHeadAlsoWhereTokensMerge) {
  const Folder folder;
  for (const auto* merged : {"0", "2"}) {
    ASSERT_EQ(heads("timm_vit", {"--merge-tokens", merged, "-o", folder.path("h.json")}).status, 0);
    const auto json = nlohmann::json::parse(read_file(folder.path("h.json")));
    const auto whole = logits_of("timm_vit", {"--merge-tokens", merged});
    for (const auto& head : json["heads"]) {
      const std::string id = to_string(head["layer"]) + ":" + to_string(head["head"]);
      const auto without = logits_of("timm_vit", {"--merge-tokens", merged, "--disable-heads", id});
      const auto expected = interpret::compare_outputs(whole, without, HeadConfig{});
      EXPECT_NEAR(head["kl"].get<double>(), expected.divergence, 1e-4 * expected.divergence + 1e-9)
          << id << ", merging " << merged;
    }
  }
}

TEST(Heads, KnowsModelsWithoutAClassifier) {
  const Finished finished = heads("timm_dinov2_registers", {});
  EXPECT_EQ(finished.status, 0) << finished.err;
}

TEST(Heads, SaysWhatIsMissing) {
  const Finished finished = run({"heads", golden("timm_vit")});
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.err,
            "vit: no images given, expected --images FOLDER\nvit: see 'vit heads --help'\n");
  EXPECT_EQ(heads("timm_vit", {"-o", "x.txt"}).status, 2);
  const Folder folder;
  EXPECT_EQ(run({"heads", golden("timm_vit"), "--images", folder.path()}).err,
            "vit: " + folder.path() +
                ": no image in this folder, expected files that end in .jpg, .png, .webp, .bmp, "
                ".tif, .gif, .heic or "
                ".avif\n");
}

TEST(Heads, ReportAMissingFolderBeforeTheWork) {
  const Finished finished = run({"heads", "/no/such/model", "--images", golden_image("timm_vit"),
                                 "-o", "/no/such/folder/heads.csv"});
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.err,
            "vit: /no/such/folder/heads.csv: cannot write: there is no folder /no/such/folder\n");
}

TEST(ClassifyWithDisabledHeads, AnswersWithoutTheHeadsGiven) {
  const auto logits = [](const std::vector<std::string>& more) {
    return logits_of("timm_vit", more);
  };
  EXPECT_NE(logits({"--disable-heads", "1:2"}), logits({}));
  EXPECT_NE(logits({"--disable-heads", "1:2,0:0"}), logits({"--disable-heads", "1:2"}));
  const Finished finished = run(
      {"classify", "-m", golden("timm_vit"), "--disable-heads", "2:0", golden_image("timm_vit")});
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.err,
            "vit: head 2:0 cannot be disabled: the model has layers 0 to 1 with heads 0 to 2\n");
}

}  // namespace
}  // namespace vit::tools
