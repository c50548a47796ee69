/// Archives, boxes and the newer image formats, as users give them to the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/patch/gif_files.h"
#include "tests/patch/heif_encoder.h"
#include "tests/patch/images.h"
#include "tests/tools/batch/tar_builder.h"
#include "tests/tools/sources/zip_builder.h"
#include "tests/tools/subprocess.h"

namespace vit::tools {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::string_literals;

std::vector<std::string> command(const std::string& name, std::vector<std::string> more) {
  std::vector<std::string> arguments{name, "-m", golden("hf_vit")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::string picture() {
  return read_file(golden_image("hf_vit"));
}

/// The rows of JSONL, without its header.
std::vector<json> rows_of(const std::string& path) {
  std::vector<json> rows;
  std::istringstream lines(read_file(path));
  for (std::string line; std::getline(lines, line);)
    if (json row = json::parse(line); row.contains("path")) rows.push_back(std::move(row));
  return rows;
}

std::vector<std::string> paths_of(const std::vector<json>& rows, const Folder& folder) {
  std::vector<std::string> paths;
  for (const json& row : rows)
    paths.push_back(row["path"].get<std::string>().substr(folder.path().size() + 1) + " " +
                    row["status"].get<std::string>());
  return paths;
}

TEST(Inputs, AreMembersOfZipAndTarGzFiles) {
  const Folder folder;
  const std::string good = picture(), gzip_me = tar_member("d/1.png", good) +
                                                tar_member("notes.txt", "x") +
                                                tar_member("2.png", "no image") + tar_end();
  folder.write("in/a.zip", zip_file({{.name = "inner/1.png", .content = good},
                                     {.name = "2.png", .content = good, .flags = 1},
                                     {.name = "../3.png", .content = good, .deflate = false},
                                     {.name = "readme.md", .content = "x"}}));
  folder.write("in/b.tar.gz", test::deflated(gzip_me, 16 + MAX_WBITS));
  const auto arguments =
      command("batch", {folder.path("in"), "-o", folder.path("out.jsonl"), "-k", "1"});
  const Finished done = run(arguments);
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("5 rows, 2 failed"));
  EXPECT_THAT(done.err, HasSubstr("; skipped: 1 .md, 1 .txt\n"));
  const auto rows = rows_of(folder.path("out.jsonl"));
  EXPECT_THAT(
      paths_of(rows, folder),
      ElementsAre("in/a.zip!/inner/1.png ok", "in/a.zip!/2.png failed", "in/a.zip!/../3.png ok",
                  "in/b.tar.gz!/d/1.png ok", "in/b.tar.gz!/2.png failed"));
  EXPECT_EQ(rows[1]["reason"], "is encrypted; unpack the archive with its password");
  EXPECT_EQ(rows[0]["predictions"], rows[3]["predictions"]);
  EXPECT_THAT(run(arguments).err, HasSubstr("nothing was left to do"));
  // A failed input is looked for again by its name.
  folder.write("in/a.zip", zip_file({{.name = "2.png", .content = good}}));
  auto again = arguments;
  again.push_back("--retry-failed");
  EXPECT_THAT(run(again).err, HasSubstr("5 rows, 1 failed"));
}

TEST(Inputs, OfRowsAreInputsOfOtherCommands) {
  const Folder folder;
  const std::string tar = tar_member("half/x.PNG", picture()) + tar_end();
  folder.write("half.tar", tar);
  folder.write("half.tgz", test::deflated(tar, 16 + MAX_WBITS));
  folder.write("half.zip", zip_file({{.name = "half/x.PNG", .content = picture()}}));
  for (const auto* archive : {"half.tar", "half.tgz", "half.zip"}) {
    const std::string member = folder.path(archive) + "!/half/x.PNG";
    const Finished classified = run(command("classify", {member}));
    EXPECT_EQ(classified.status, 0) << classified.err;
    EXPECT_EQ(run(command("attention", {member, "-o", folder.path("map.png")})).status, 0);
    const std::string output = folder.path(std::string(archive) + ".jsonl");
    EXPECT_EQ(run(command("batch", {member, "-o", output, "--quiet"})).status, 0);
    EXPECT_EQ(rows_of(output).at(0)["path"], member);
    const std::string gone = folder.path(archive) + "!/gone.png";
    EXPECT_THAT(run(command("classify", {gone})).err,
                HasSubstr(gone + ": no such member in this archive\n"));
    EXPECT_THAT(run(command("batch", {gone, "-o", output})).err,
                HasSubstr(gone + ": no such member in this archive\n"));
  }
}

TEST(Inputs, AreSortedOutOfZipFiles) {
  const Folder folder;
  folder.write("a.zip", zip_file({{.name = "../../x.png", .content = picture()}}));
  const Finished done = run(command("batch", {folder.path("a.zip"), "-o", folder.path("out.jsonl"),
                                              "--copy-to", folder.path("deep/sorted")}));
  EXPECT_THAT(done.err, HasSubstr("1 copied into 1 folder"));
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path("deep")))
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  ASSERT_EQ(files.size(), 1u) << "nothing outside of the folder";
  EXPECT_EQ(read_file(files.front()), picture());
}

TEST(Inputs, InAFolderNamedLikeAnArchiveOfRowsArePlainFiles) {
  const Folder folder;
  folder.write("in/a!/1.png", picture());
  folder.write("in/a!/2.png", picture());
  const std::string output = folder.path("out.csv");
  ASSERT_EQ(run(command("batch", {folder.path("in"), "-o", output})).status, 0);
  ASSERT_EQ(run({"export", output, "-o", folder.path("out.html")}).status, 0);
  const std::string page = read_file(folder.path("out.html"));
  EXPECT_THAT(page, HasSubstr("data:image/"));
  EXPECT_THAT(page, testing::Not(HasSubstr("no such")));
  folder.write("in/a!/1.png", picture() + "more");
  EXPECT_THAT(run(command("batch", {folder.path("in"), "-o", output})).err,
              HasSubstr("1 file has changed since"));
}

TEST(Inputs, AreHeicAvifAndGifFiles) {
  const Folder folder;
  patch::test::GifFrame frame{0, 0, 32, 32, patch::test::Bytes(32 * 32, 40)};
  const auto gif = patch::test::gif_file(32, 32, {frame});
  folder.write("in/a.gif", std::string(gif.begin(), gif.end()));
  size_t files = 1;
  const patch::Image image = patch::test::noise(64, 64);
  for (const auto& [name, format] :
       {std::pair{"in/b.HEIC", heif_compression_HEVC}, {"in/c.avif", heif_compression_AV1}}) {
    const auto bytes = patch::test::encoded_heif(image, format);
    if (bytes.empty()) continue;
    folder.write(name, std::string(bytes.begin(), bytes.end()));
    ++files;
    const Finished classified = run(command("classify", {folder.path(name)}));
    EXPECT_EQ(classified.status, 0) << classified.err;
  }
  const Finished done = run(command("batch", {folder.path("in"), "-o", folder.path("out.jsonl")}));
  EXPECT_EQ(done.status, 0);
  EXPECT_THAT(done.err, HasSubstr(std::to_string(files) + " row"));
  EXPECT_THAT(done.err, testing::Not(HasSubstr("skipped")));
  if (files < 3) GTEST_SKIP() << "this libheif has no encoder for HEIC or AVIF";
}

json boxes_file() {
  return {{"info", {{"format_version", "1.4"}, {"detector", "md_v5a.0.0.pt"}}},
          {"detection_categories", {{"1", "animal"}, {"2", "person"}}},
          {"classification_categories", {{"7", "old"}}},
          {"images",
           {{{"file", "a.png"},
             {"max_detection_conf", 0.926},
             {"detections",
              {{{"category", "1"}, {"conf", 0.926}, {"bbox", {0.0, 0.0, 0.5, 0.5}}},
               {{"category", "2"}, {"conf", 0.9}, {"bbox", {0.1, 0.1, 0.2, 0.2}}},
               {{"category", "1"}, {"conf", 0.1}, {"bbox", {0.1, 0.1, 0.2, 0.2}}},
               {{"category", "1"},
                {"conf", 0.3},
                {"bbox", {0.0, 0.0, 1.0, 1.0}},
                {"classifications", {{"7", 0.5}}}}}}},
            {{"file", "gone.png"},
             {"detections", {{{"category", "1"}, {"conf", 0.8}, {"bbox", {0, 0, 1, 1}}}}}},
            {{"file", "broken.png"}, {"failure", "Failure image access"}}}}};
}

TEST(Boxes, GetClassesInTheFileOfMegaDetector) {
  const Folder folder;
  folder.write("in/a.png", picture());
  folder.write("md.json", boxes_file().dump());
  const std::string output = folder.path("out.json");
  const auto arguments = command(
      "batch", {folder.path("in"), "--boxes", folder.path("md.json"), "-o", output, "-k", "2"});
  const Finished done = run(arguments);
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("out.json: 3 rows, 1 failed"));
  EXPECT_THAT(done.err, HasSubstr("out.json: 2 of 3 boxes classified, 2 left out: below 0.2, or "
                                  "of another category than animal\n"));
  const json result = json::parse(read_file(output));
  const json& detections = result["images"][0]["detections"];
  EXPECT_EQ(detections[0]["classifications"].size(), 2u);
  EXPECT_FALSE(detections[1].contains("classifications")) << "a person";
  EXPECT_FALSE(detections[2].contains("classifications")) << "unsure";
  // The whole image has the classes that vit classify gives.
  const json whole =
      json::parse(run(command("classify", {folder.path("in/a.png"), "--json", "-k", "1"})).out);
  const json& best = whole["images"][0]["predictions"][0];
  const json& pair = detections[3]["classifications"][0];
  EXPECT_EQ(pair[0], std::to_string(best["class"].get<int>()));
  EXPECT_NEAR(pair[1].get<double>(), best["probability"].get<double>(), 1e-4);
  EXPECT_EQ(result["classification_categories"][pair[0].get<std::string>()], best["label"]);
  EXPECT_FALSE(result["classification_categories"].contains("old"));
  EXPECT_EQ(result["info"]["detector"], "md_v5a.0.0.pt");
  EXPECT_EQ(result["images"][0]["max_detection_conf"], 0.926);
  EXPECT_EQ(result["images"][2], boxes_file()["images"][2]);
  EXPECT_THAT(paths_of(rows_of(output + ".rows.jsonl"), folder),
              ElementsAre("in/a.png#box=1 ok", "in/a.png#box=4 ok", "in/gone.png#box=1 failed"));
  // The missing file has been added.
  folder.write("in/gone.png", picture());
  auto again = arguments;
  again.push_back("--retry-failed");
  EXPECT_THAT(run(again).err, HasSubstr("3 of 3 boxes classified"));
}

TEST(Boxes, AreRowsOfOtherOutputs) {
  const Folder folder;
  folder.write("in/a.png", picture());
  folder.write("md.json", boxes_file().dump());
  const Finished done = run(command(
      "batch", {folder.path("in"), "--boxes", folder.path("md.json"), "-o", folder.path("out.csv"),
                "--box-category", "all", "--box-threshold", "0.05"}));
  EXPECT_THAT(done.err, HasSubstr("5 rows, 1 failed"));
  EXPECT_THAT(read_file(folder.path("out.csv")), HasSubstr("in/a.png#box=3,ok"));
}

TEST(Boxes, OfAChangedImageAreNoticed) {
  const Folder folder;
  folder.write("in/a.png", picture());
  folder.write("md.json", boxes_file().dump());
  const std::string output = folder.path("out.jsonl");
  auto arguments =
      command("batch", {folder.path("in"), "--boxes", folder.path("md.json"), "-o", output});
  ASSERT_EQ(run(arguments).status, 0);
  EXPECT_EQ(rows_of(output).at(0)["bytes"], picture().size());
  EXPECT_TRUE(rows_of(output).at(0).contains("modified"));
  folder.write("in/a.png", picture() + "more");
  EXPECT_THAT(run(arguments).err, HasSubstr("2 files have changed since"));
  arguments.push_back("--changed");
  EXPECT_THAT(run(arguments).err, HasSubstr("processing 2 changed files again\n"));
  EXPECT_EQ(rows_of(output).at(1)["bytes"], picture().size() + 4);
  EXPECT_THAT(run(arguments).err, testing::Not(HasSubstr("changed")));
}

TEST(Boxes, WithoutPixelsAreFailedRows) {
  const Folder folder;
  folder.write("in/a.png", picture());
  const std::vector<json> boxes{{0.5, 0.5, 0.0, 0.2},  {0.5, 0.5, 0.2, -0.2},
                                {1.0, 0.2, 0.1, 0.1},  {0.2, -0.5, 0.2, 0.4},
                                {0.9, 0.9, 1e-6, 1.0}, {-0.1, 0.2, 0.2, 0.2}};
  json detections;
  for (const auto& box : boxes)
    detections.push_back({{"category", "1"}, {"conf", 0.9}, {"bbox", box}});
  folder.write("md.json",
               json{{"images", {{{"file", "a.png"}, {"detections", detections}}}}}.dump());
  const Finished done = run(command("batch", {folder.path("in"), "--boxes", folder.path("md.json"),
                                              "-o", folder.path("out.csv")}));
  EXPECT_THAT(done.err, HasSubstr("6 rows, 4 failed"));
  const std::string rows = read_file(folder.path("out.csv"));
  EXPECT_THAT(rows, HasSubstr("in/a.png#box=2,failed,\"the box is empty or outside of the image: "
                              "[0.5, 0.5, 0.2, -0.2], expected [left, top, width, height] in "
                              "fractions of the image\""));
  for (const int box : {1, 2, 3, 4})
    EXPECT_THAT(rows, HasSubstr("in/a.png#box=" + std::to_string(box) + ",failed,"));
}

TEST(Boxes, ThatCannotBeReadSayWhy) {
  const Folder folder;
  folder.write("in/a.png", picture());
  const auto message = [&](const std::string& text, std::vector<std::string> more = {}) {
    folder.write("md.json", text);
    std::vector<std::string> arguments{folder.path("in"), "--boxes", folder.path("md.json"), "-o",
                                       folder.path("out.json")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished done = run(command("batch", arguments));
    EXPECT_NE(done.status, 0);
    return done.err;
  };
  const std::string file = folder.path("md.json");
  EXPECT_THAT(message("{"), HasSubstr(file + ": is not JSON, or is cut short\n"));
  EXPECT_THAT(message("[]"),
              HasSubstr(file + ": is not a file of MegaDetector: got a list, expected "
                               "an object with a list 'images'"));
  EXPECT_THAT(
      message(R"({"images":)" + std::string(1'000'000, '[')),
      HasSubstr(file + ": nests more than 64 levels deep, more than any file of MegaDetector\n"));
  json broken = boxes_file();
  broken["images"][0]["file"] = "a.png\0b"s;
  EXPECT_THAT(message(broken.dump()),
              HasSubstr(file + ": images[0]: the name in 'file' has a zero byte"));
  broken = boxes_file();
  broken["images"][0]["detections"][1]["bbox"] = {1, 2, 3};
  EXPECT_THAT(message(broken.dump()),
              HasSubstr(file + ": images[0].detections[1]: got a 'bbox' that cannot be read, "
                               "expected [left, top, width, height] in fractions of the image"));
  EXPECT_THAT(
      message(boxes_file().dump(), {"--box-category", "bird"}),
      HasSubstr(file + ": has no category 'bird', expected one of: animal, person, or all"));
  EXPECT_THAT(
      message(boxes_file().dump(), {"--box-threshold", "1"}),
      HasSubstr("no box is selected: all are of other categories or below --box-threshold"));
  EXPECT_THAT(run(command("batch", {folder.path("in"), "-o", folder.path("a.csv"),
                                    "--box-threshold", "0.5"}))
                  .err,
              HasSubstr("option '--box-threshold' given without --boxes FILE"));
  EXPECT_FALSE(std::filesystem::exists(folder.path("out.json")));
}

}  // namespace
}  // namespace vit::tools
