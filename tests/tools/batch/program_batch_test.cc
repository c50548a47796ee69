/// `vit batch` as its users run it: every input its row, whatever the input is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/tools/subprocess.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kModel = "hf_vit";

Finished batch(std::vector<std::string> more) {
  std::vector<std::string> arguments{"batch", "-m", golden(kModel), "-k", "2"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

std::vector<nlohmann::json> rows_of(const std::string& text) {
  std::vector<nlohmann::json> rows;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    auto row = nlohmann::json::parse(line);
    if (row["status"] != "header") rows.push_back(std::move(row));
  }
  return rows;
}

/// "path status" or "path reason" of each row.
std::vector<std::string> summary(const std::string& text) {
  std::vector<std::string> lines;
  for (const auto& row : rows_of(text))
    lines.push_back(row["path"].get<std::string>() + ": " +
                    (row["status"] == "ok" ? "ok" : row["reason"].get<std::string>()));
  return lines;
}

TEST(Batch, GivesTheAnswersOfClassify) {
  const std::string image = golden_image(kModel);
  const Finished finished = batch({image, "-o", "-"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  const auto rows = rows_of(finished.out);
  ASSERT_EQ(rows.size(), 1u);
  const auto classified = nlohmann::json::parse(
      run({"classify", "-m", golden(kModel), "-k", "2", "--json", image}).out);
  EXPECT_EQ(rows[0]["predictions"], classified["images"][0]["predictions"]);
  EXPECT_EQ(rows[0]["path"], image);
}

TEST(Batch, GoesOnOnlyInThePrecisionAndWithTheTokensItBeganWith) {
  const Folder folder;
  const std::string image = golden_image(kModel), out = folder.path("rows.jsonl");
  EXPECT_EQ(batch({image, "-o", out, "--precision", "int8"}).status, 0);
  EXPECT_EQ(batch({image, "-o", out, "--precision", "int8"}).status, 0);
  const Finished finished = batch({image, "-o", out, "--merge", "2"});
  EXPECT_NE(finished.status, 0);
  EXPECT_THAT(finished.err, HasSubstr("options.precision is \"int8\" in the file, null now"));
  EXPECT_THAT(finished.err, HasSubstr("options.merge is null in the file, 2 now"));
}

TEST(Batch, HasARowForWhateverAFolderHolds) {
  const Folder folder;
  const std::string png = read_file(golden_image(kModel));
  folder.write("in/good.png", png);
  folder.write("in/.hidden.png", png);
  folder.write("in/.hidden/a.png", png);
  folder.write("in/notes.txt", "hello");
  folder.write("in/deep/er/GOOD.PNG", png);
  folder.write("in/cut.png", png.substr(0, png.size() / 2));
  folder.write("in/empty.jpg", "");
  folder.write("in/text.jpg", "hello");
  folder.write("in/two\nlines.png", png);
  folder.write("in/日本.png", png);
  fs::create_symlink("nowhere.png", folder.path("in/broken.png"));
  fs::create_directory_symlink("..", folder.path("in/deep/loop"));
  const Finished finished = batch({folder.path("in"), "-o", "-"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  const std::string in = folder.path("in/");
  EXPECT_THAT(
      summary(finished.out),
      ElementsAre(in + "broken.png: no such file", HasSubstr(in + "cut.png: this PNG is cut short"),
                  in + "deep/er/GOOD.PNG: ok", in + "empty.jpg: the file is empty",
                  in + "good.png: ok",
                  HasSubstr(in + "text.jpg: not a JPEG, PNG, WebP, BMP or TIFF image"),
                  in + "two\nlines.png: ok", in + "日本.png: ok"));
}

}  // namespace
}  // namespace vit::tools
