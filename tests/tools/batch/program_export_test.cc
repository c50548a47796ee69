/// Rows in other forms: Parquet, pages, EXIF columns; and files that have changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tests/support/exif_block.h"
#include "tests/tools/batch/batch_call.h"
#include "tests/tools/parquet_reader.h"
#include "tools/draw/canvas.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Export, WritesParquetWithTheRowsOfTheTable) {
  const Folder folder;
  write_images(folder, 9);
  ASSERT_EQ(run_into(folder, "r.jsonl").status, 0);
  const Finished made = run({"export", folder.path("r.jsonl"), "-o", folder.path("r.parquet")});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(made.err,
            "vit: " + folder.path("r.parquet") + ": 9 rows of " + folder.path("r.jsonl") + "\n");
  const auto table = test::read_parquet(read_file(folder.path("r.parquet")));
  const auto rows = rows_of(read_file(folder.path("r.jsonl")));
  ASSERT_EQ(table.rows, 9);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(table["number"][i], std::to_string(i + 1));
    EXPECT_EQ(table["path"][i], rows[i]["path"]);
    EXPECT_EQ(table["status"][i], rows[i]["status"]);
    EXPECT_EQ(table["bytes"][i], rows[i].contains("bytes") ? rows[i]["bytes"].dump() : "-");
    if (rows[i]["status"] != "ok") continue;
    EXPECT_EQ(table["label_2"][i], rows[i]["predictions"][1]["label"]);
    EXPECT_FLOAT_EQ(
        std::stof(table["probability_1"][i]),
        std::round(rows[i]["predictions"][0]["probability"].get<float>() * 1e6f) / 1e6f);
  }
  EXPECT_EQ(table["label_1"][6], "-") << "the broken one";
  EXPECT_THAT(table["reason"][6], Not(testing::StrEq("-")));
  EXPECT_THAT(table.facts.at("vit.run"), HasSubstr("\"model_sha256\""));
}

TEST(Export, IsMadeByABatchThatCanBeResumed) {
  const Folder folder;
  write_images(folder, 6);
  for (const std::string name : {"r.parquet", "r.html"}) {
    const std::string output = folder.path(name);
    ASSERT_EQ(run_into(folder, name).status, 0);
    const std::string whole = read_file(output);
    EXPECT_TRUE(fs::exists(output + ".rows.jsonl"));
    folder.write("in/new.bmp", image_bytes());
    const Finished grown =
        run({"batch", "-m", golden("hf_vit"), "-k", "2", folder.path("in"), "-o", output});
    EXPECT_EQ(grown.status, 0) << grown.err;
    EXPECT_THAT(grown.err, HasSubstr("vit: " + output + ": 7 rows"));
    EXPECT_NE(read_file(output), whole);
    EXPECT_THAT(read_file(output + ".rows.jsonl"), HasSubstr("new.bmp"));
    const Finished other = run_into(folder, name, {"--min-probability", "0.5"});
    EXPECT_EQ(other.status, 1) << "rows of other options";
    fs::remove(folder.path("in/new.bmp"));
  }
  const Finished part = run_into(folder, "s.html", {"--shard", "0/2"});
  EXPECT_EQ(part.status, 2);
  EXPECT_THAT(part.err, HasSubstr("part 0 of 2 (--shard) cannot be a .html, expected -o FILE.csv, "
                                  ".jsonl or .db; `vit export` makes it from the joined file"));
}

TEST(Export, RefusesWhatIsNoTable) {
  const Folder folder;
  const Finished none = run({"export", folder.path("no.csv"), "-o", folder.path("x.html")});
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, HasSubstr("no.csv: no such file"));
  const Finished kind = run({"export", folder.path("no.csv"), "-o", folder.path("x.xlsx")});
  EXPECT_EQ(kind.status, 2);
  EXPECT_THAT(kind.err, HasSubstr("expected a name that ends in .parquet or .html"));
  std::string rows = "number,path,status,reason,class_1,label_1,probability_1,path_hex\n";
  for (int i = 1; i <= 200'001; ++i) rows += std::to_string(i) + ",x.jpg,failed,gone,,,,\n";
  folder.write("many.csv", rows);
  const Finished many = run({"export", folder.path("many.csv"), "-o", folder.path("x.html")});
  EXPECT_EQ(many.status, 1);
  EXPECT_THAT(many.err, HasSubstr("has 200001 rows, a page shows at most 200000; export them as "
                                  ".parquet, or pages of parts of the folder"));
  EXPECT_FALSE(fs::exists(folder.path("x.html")));
}

TEST(Export, OfAPageEscapesWhatIsInNames) {
  const Folder folder;
  folder.write("in/<b>x.bmp", image_bytes());
  ASSERT_EQ(run_into(folder, "r.html").status, 0);
  const std::string page = read_file(folder.path("r.html"));
  EXPECT_THAT(page, Not(HasSubstr("<b>x")));
  EXPECT_THAT(page, HasSubstr("\\u003cb>x.bmp"));
}

TEST(ExifColumns, HoldWhatTheCameraWrote) {
  const Folder folder;
  const std::string jpeg = encode_picture(blank(64, 48), ".jpg");
  folder.write("in/a.jpg", vit::test::with_exif(jpeg, vit::test::sydney_exif()));
  folder.write("in/b.jpg", jpeg);
  ASSERT_EQ(run_into(folder, "r.csv", {"--exif-columns"}).status, 0);
  const std::string csv = read_file(folder.path("r.csv"));
  EXPECT_THAT(csv, HasSubstr(",bytes,modified,taken,camera,latitude,longitude,path_hex\n"));
  EXPECT_THAT(csv, HasSubstr(",2024-05-17T08:30:00+10:00,Canon EOS R5,-33.856800,151.209433,\n"));
  EXPECT_TRUE(csv.ends_with("Z,,,,,\n")) << csv;
  ASSERT_EQ(run_into(folder, "r.parquet", {"--exif-columns"}).status, 0);
  const auto table = test::read_parquet(read_file(folder.path("r.parquet")));
  EXPECT_THAT(table["camera"], ElementsAre("Canon EOS R5", "-"));
  EXPECT_THAT(table["latitude"], ElementsAre("-33.856800", "-"));
  const Finished without = run_into(folder, "r.csv");
  EXPECT_EQ(without.status, 1);
  EXPECT_THAT(without.err, HasSubstr("options.exif_columns is true in the file, null now"));
}

/// A camera that starts counting again replaces IMG_0001.JPG.
TEST(Changed, FilesAreNoticedAndDoneAgain) {
  for (const std::string name : {"r.csv", "r.jsonl", "r.db", "r.npy"}) {
    const Folder folder;
    write_images(folder, 5);
    ASSERT_EQ(run_into(folder, name).status, 0);
    const std::string output = folder.path(name);
    const auto rows = [&] { return content_of(name == "r.npy" ? output + ".jsonl" : output); };
    const std::string before = rows();
    folder.write("in/002.bmp", photograph(70, 50, 3));
    fs::remove(folder.path("in/004.bmp"));
    auto call = batch_arguments({folder.path("in"), "-o", output});
    if (name == "r.npy") call = {"embed", "-m", golden("hf_vit"), folder.path("in"), "-o", output};
    std::erase(call, "--quiet");
    const Finished noticed = run(call);
    EXPECT_EQ(noticed.status, 0);
    EXPECT_THAT(noticed.err, HasSubstr("1 file has changed since (--changed processes them again)"))
        << name;
    EXPECT_EQ(rows(), before);
    call.push_back("--changed");
    const Finished again = run(call);
    EXPECT_EQ(again.status, 0) << again.err;
    EXPECT_THAT(again.err, HasSubstr("vit: processing 1 changed file again\n")) << name;
    EXPECT_THAT(again.err, Not(HasSubstr("has changed since")));
    EXPECT_NE(rows(), before);
    EXPECT_EQ(std::ranges::count(rows(), '\n'), std::ranges::count(before, '\n'));
    const std::string after = rows();
    EXPECT_EQ(run(call).status, 0);
    EXPECT_EQ(rows(), after) << "nothing is left to do";
  }
}

TEST(Changed, NeedsAFileToChange) {
  const Folder folder;
  write_images(folder, 1);
  const Finished pipe = run_into(folder, "-", {"--changed"});
  EXPECT_EQ(pipe.status, 2);
  const Finished both = run_into(folder, "r.csv", {"--changed", "--restart"});
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.err, HasSubstr("--restart and --changed given, expected one of them"));
}

}  // namespace
}  // namespace vit::tools
