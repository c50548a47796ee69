/// `vit batch` as its users run it: one row for every input, readable or not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/paths.h"
#include "tests/tools/batch/batch_call.h"
#include "tests/tools/batch/tar_builder.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

/// "path: ok" or "path: reason" of each row.
std::vector<std::string> summary(const std::string& text) {
  std::vector<std::string> lines;
  for (const auto& row : rows_of(text))
    lines.push_back(row["path"].get<std::string>() + ": " +
                    (row["status"] == "ok" ? "ok" : row["reason"].get<std::string>()));
  return lines;
}

TEST(Batch, GivesTheAnswersOfClassify) {
  const std::string image = golden_image("hf_vit");
  const Finished finished = batch({image, "-o", "-"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  const auto rows = rows_of(finished.out);
  ASSERT_EQ(rows.size(), 1u);
  const auto classified = nlohmann::json::parse(
      run({"classify", "-m", golden("hf_vit"), "-k", "2", "--json", image}).out);
  EXPECT_EQ(rows[0]["predictions"], classified["images"][0]["predictions"]);
  EXPECT_EQ(rows[0]["path"], image);
}

TEST(Batch, WritesItsHeaderInAFileBesideTheRows) {
  const Folder folder;
  const std::string out = folder.path("r.jsonl");
  ASSERT_EQ(batch({golden_image("hf_vit"), "-o", out, "--exif", "ignore"}).status, 0);
  const auto header = nlohmann::json::parse(read_file(out + ".run.json"));
  EXPECT_EQ(header["command"], "batch");
  EXPECT_EQ(header["vit"], VIT_VERSION);
  EXPECT_EQ(header["model"], "ViTForImageClassification");
  EXPECT_THAT(header["model_sha256"].get<std::string>(), SizeIs(64));
  EXPECT_EQ(header["recipe"]["crop_height"], 64);
  EXPECT_EQ(header["options"]["top"], 2);
  EXPECT_EQ(header["options"]["exif"], "ignore");
}

TEST(Batch, ResumesOnlyWithTheSamePrecisionAndMergedTokens) {
  const Folder folder;
  const std::string image = golden_image("hf_vit"), out = folder.path("rows.jsonl");
  EXPECT_EQ(batch({image, "-o", out, "--precision", "int8"}).status, 0);
  EXPECT_EQ(batch({image, "-o", out, "--precision", "int8"}).status, 0);
  const Finished finished = batch({image, "-o", out, "--merge-tokens", "2"});
  EXPECT_NE(finished.status, 0);
  EXPECT_THAT(finished.err, HasSubstr("options.precision is \"int8\" in the file, null now"));
  EXPECT_THAT(finished.err, HasSubstr("options.merge is null in the file, 2 now"));
}

TEST(Batch, HasARowForEveryImageFileOfAFolder) {
  const Folder folder;
  const std::string png = read_file(golden_image("hf_vit"));
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
  folder.write("in/w.tar", tar_member("m.png", png) + tar_member("bad.png", "x") + tar_end());
  fs::create_symlink("nowhere.png", folder.path("in/broken.png"));
  fs::create_directory_symlink("..", folder.path("in/deep/loop"));
  const Finished finished = batch({folder.path("in"), "-o", "-"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  const std::string in = folder.path("in/");
  EXPECT_THAT(
      summary(finished.out),
      ElementsAre(
          in + "broken.png: no such file", HasSubstr(in + "cut.png: this PNG is cut short"),
          in + "deep/er/GOOD.PNG: ok", in + "empty.jpg: the file is empty", in + "good.png: ok",
          HasSubstr(in + "text.jpg: not a JPEG, PNG, WebP, BMP, TIFF, GIF, HEIC or AVIF image"),
          in + "two\nlines.png: ok", in + "w.tar!/m.png: ok",
          HasSubstr(in + "w.tar!/bad.png: not a JPEG, PNG"), in + "日本.png: ok"));
}

TEST(Batch, HasARowForEveryOperandAlsoTwice) {
  const Folder folder;
  const std::string a = folder.write("a.bmp", image_bytes());
  const Finished finished = batch({a, "/dev/null", a, "-o", "-"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(summary(finished.out),
              ElementsAre(a + ": ok", "/dev/null: not a regular file: a device, pipe or socket",
                          a + ": ok"));
}

/// Runs as a user other than root, who may read everything.
TEST(Batch, SaysWhatItMayNotRead) {
  const Folder folder;
  write_images(folder, 2);
  folder.write("in/locked/x.bmp", image_bytes());
  chmod(folder.path("in/001.bmp").c_str(), 0);
  chmod(folder.path("in/locked").c_str(), 0);
  Call call = batch_call({folder.path("in"), "-o", "-"});
  if (geteuid() == 0) {
    chmod(folder.path().c_str(), 0755);
    call.arguments.insert(call.arguments.begin(),
                          {"--reuid=65534", "--clear-groups", test::program()});
    call.program = "setpriv";
  }
  const Finished finished = run(call);
  chmod(folder.path("in/locked").c_str(), 0755);
  if (geteuid() == 0 && finished.status != 0)
    GTEST_SKIP() << "cannot become another user here: " << finished.err;
  EXPECT_THAT(summary(finished.out),
              ElementsAre(folder.path("in/000.bmp: ok"),
                          folder.path("in/001.bmp: cannot open: Permission denied"),
                          folder.path("in/locked: cannot read this folder: Permission denied")));
}

TEST(Batch, ReadsListsFromFilesAndStandardInput) {
  const Folder folder;
  write_images(folder, 3);
  const std::string one = folder.path("in/001.bmp"), two = folder.path("in/002.bmp");
  const std::string list = folder.write("list.txt", one + "\n");
  Call call = batch_call({"@" + list, "-", "-0", "-o", "-"});
  call.input = two + std::string(1, '\0');
  const Finished finished = run(call);
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(summary(finished.out), ElementsAre(one + "\n: no such file", two + ": ok"));
  const Finished missing = batch({"@" + folder.path("no.txt"), "-o", "-"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("no.txt': cannot read this list: No such file or directory"));
}

TEST(Batch, NamesOnlyClassesThatAreLikelyEnough) {
  const std::string image = golden_image("hf_vit");  // 0.348, 0.249, …
  const auto named = [&](const char* least) {
    return rows_of(batch({image, "-o", "-", "--min-probability", least}).out)
        .at(0)["predictions"]
        .size();
  };
  EXPECT_EQ(named("0"), 2u);
  EXPECT_EQ(named("0.3"), 1u);
  EXPECT_EQ(named("0.9"), 1u) << "the best class stays";
  EXPECT_EQ(batch({image, "-o", "-", "--min-probability", "1.5"}).status, 2);
}

TEST(Batch, GivesTheSameWithAnyThreadsAndWindow) {
  const Folder folder;
  write_images(folder, 30);
  const std::string in = folder.path("in");
  const std::string expected = batch({in, "-o", "-", "--threads", "1", "--batch", "1"}).out;
  EXPECT_THAT(rows_of(expected), SizeIs(30));
  EXPECT_EQ(batch({in, "-o", "-", "--threads", "3", "--batch", "2"}).out, expected);
  EXPECT_EQ(batch({in, "-o", "-"}).out, expected);
}

std::vector<std::string> files_under(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (!entry.is_directory()) files.push_back(entry.path().lexically_relative(folder).string());
  return files;
}

TEST(Batch, SortsFilesIntoFoldersAndKeepsNamesakesApart) {
  const Folder folder;
  const std::string png = read_file(golden_image("hf_vit"));
  folder.write("in/a/x.png", png);
  folder.write("in/b/x.png", png + "trailing");
  folder.write("in/bad.png", "");
  folder.write("in/t.tar", tar_member("deep/m.png", png) + tar_end());
  for (const auto* way : {"--copy-to", "--link-to"}) {
    const std::string sorted = folder.path(way);
    const auto sort = [&] {
      return batch({folder.path("in"), "-o", folder.path("r.csv"), "--restart", way, sorted});
    };
    ASSERT_EQ(sort().status, 0) << sort().err;
    const auto files = files_under(sorted);
    EXPECT_THAT(
        files, UnorderedElementsAre("great white shark/x.png",
                                    testing::MatchesRegex("great white shark/x-[0-9a-f]{16}\\.png"),
                                    "great white shark/m.png"));
    for (const auto& file : files) EXPECT_THAT(read_file(sorted + "/" + file), HasSubstr(png));
    EXPECT_EQ(fs::is_symlink(sorted + "/great white shark/x.png"), std::string(way) == "--link-to");
    EXPECT_EQ(sort().status, 0);
    EXPECT_THAT(files_under(sorted), testing::UnorderedElementsAreArray(files)) << "done twice";
  }
}

TEST(Batch, ExplainsWhatIsWrongWithItsCall) {
  const Folder folder;
  const std::string image = golden_image("hf_vit");
  const auto says = [](const Finished& finished, int status, const std::string& text) {
    EXPECT_EQ(finished.status, status);
    EXPECT_THAT(finished.err, HasSubstr(text));
    EXPECT_EQ(finished.out, "");
  };
  says(batch({image}), 2, "no output given, expected -o OUT");
  says(batch({"-o", "x.csv"}), 2, "no input given, expected folders, files");
  says(batch({image, "-o", "x.txt"}), 2,
       "option '--output' got 'x.txt', expected a name that ends in .csv, .jsonl, .db, .parquet or "
       ".html");
  says(batch({image, "-o", folder.path("no/x.csv")}), 1,
       "no/x.csv: cannot write: there is no folder " + folder.path("no"));
  says(batch({image, "-o", "-", "--shard", "0/2"}), 2, "cannot go to standard output");
  says(batch({image, "-o", "-", "--restart"}), 2, "--restart needs a resumable output");
  says(batch({folder.path(), "-o", folder.path("x.csv")}), 2, folder.path() + ": no image in it");
  EXPECT_FALSE(fs::exists(folder.path("x.csv")));
  says(batch({"@/dev/null", "-o", folder.path("x.csv")}), 1, "no image found");
  folder.write("a.bmp", image_bytes());
  says(batch({folder.path(), "-o", "-", "--copy-to", folder.path("sorted/deep")}), 2,
       "which is inside the input '" + folder.path() + "': the sorted files would become inputs");
}

TEST(Batch, LetsStrictCallersKnowOfFailedRows) {
  const Folder folder;
  const std::string bad = folder.write("bad.jpg", ""), good = folder.write("a.bmp", image_bytes());
  EXPECT_EQ(batch({bad, good, "-o", folder.path("r.csv")}).status, 0);
  EXPECT_EQ(batch({bad, good, "-o", folder.path("r.csv"), "--strict"}).status, 1);
}

TEST(Batch, SaysWhatItDidUnlessQuiet) {
  const Folder folder;
  write_images(folder, 7);
  auto arguments = batch_arguments({folder.path("in"), "-o", folder.path("r.csv")});
  std::erase(arguments, "--quiet");
  EXPECT_THAT(run(arguments).err, testing::MatchesRegex("vit: .*r\\.csv: 7 rows, 1 failed, [0-9.]+ "
                                                        "images/s\n"));
  EXPECT_THAT(run(arguments).err, HasSubstr("r.csv: 7 rows, 1 failed, nothing was left to do\n"));
}

TEST(Batch, RowsOfDamagedFilesSaySoAndAreFailedIfStrict) {
  const Folder folder;
  std::string jpeg = read_file(test::source_dir() / "tools/pictures/grid.jpg");
  jpeg.resize(jpeg.size() / 4 * 3);
  while (jpeg.back() == '\xff') jpeg.pop_back();
  const std::string file = folder.write("half.jpg", jpeg + "\xff\xd9");
  const Finished kept = batch({file, "-o", "-"});
  EXPECT_EQ(kept.status, 0) << kept.err;
  const auto row = rows_of(kept.out).at(0);
  EXPECT_EQ(row["status"], "ok");
  EXPECT_THAT(row["reason"].get<std::string>(),
              testing::StartsWith("damaged: the data ends after "));
  EXPECT_EQ(row["predictions"].size(), 2u);

  EXPECT_EQ(batch({file, "-o", folder.path("rows.csv")}).status, 0);
  EXPECT_THAT(read_file(folder.path("rows.csv")), HasSubstr(",ok,\"damaged: the data ends after "));
  EXPECT_EQ(batch({file, "-o", folder.path("rows.db")}).status, 0);
  EXPECT_THAT(content_of(folder.path("rows.db")), HasSubstr("damaged: the data ends after "));

  const Finished strict = batch({file, "-o", "-", "--strict"});
  EXPECT_EQ(strict.status, 1);
  const auto failed = rows_of(strict.out).at(0);
  EXPECT_EQ(failed["status"], "failed");
  EXPECT_EQ(failed["reason"], row["reason"]);
}

TEST(Batch, ImagesWithinTheLimitWaitForEachOther) {
  const Folder folder;
  write_images(folder, 40);
  const Finished wide = batch({folder.path("in"), "-o", "-", "--threads", "4"});
  const Finished tight =
      batch({folder.path("in"), "-o", "-", "--threads", "4", "--max-pixels", "100"});
  EXPECT_EQ(tight.status, 0) << tight.err;
  EXPECT_EQ(tight.out, wide.out);
}

}  // namespace
}  // namespace vit::tools
