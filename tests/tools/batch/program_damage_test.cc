/// `vit batch` and `vit embed` on output that was changed after they wrote it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/tools/batch/batch_call.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(DamagedOutput, RefusesRowsThatWereChangedUntilToldThatTheyAreRight) {
  const Folder folder;
  write_images(folder, 6);
  const std::string name = "r.csv", output = folder.path(name);
  ASSERT_EQ(run_into(folder, name).status, 0);
  const std::string whole = read_file(output);
  std::string edited = whole;
  edited.replace(edited.find("goldfish"), 8, "my pet!!");
  folder.write("r.csv", edited);
  const Finished refused = run_into(folder, name);
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr(" not what was written, by the checksums in r.csv.sums; if "
                                     "the change was made on purpose, remove " +
                                     output + ".sums to accept the file"));
  EXPECT_EQ(read_file(output), edited);
  fs::remove(output + ".sums");
  ASSERT_EQ(run_into(folder, name).status, 0);
  EXPECT_EQ(read_file(output), edited) << "taken as it is";
  edited.erase(edited.find("\n3,"), edited.find("\n4,") - edited.find("\n3,"));
  folder.write("r.csv", edited);
  fs::remove(output + ".sums");
  ASSERT_EQ(run_into(folder, name).status, 0);
  EXPECT_THAT(read_file(output), HasSubstr("\n6," + folder.path("in/002.bmp")));
  folder.write("r.csv", edited + edited);
  ASSERT_EQ(run_into(folder, name, {"--restart"}).status, 0);
  EXPECT_EQ(read_file(output), whole);
}

TEST(DamagedOutput, ComputesNumbersAgainThatAreNotThoseThatWereWritten) {
  const Folder folder;
  write_images(folder, 8);
  const std::string name = "f.npy", output = folder.path(name);
  ASSERT_EQ(run_into(folder, name).status, 0);
  const std::string whole = read_file(output), list = read_file(output + ".jsonl");
  folder.write("f.npy", whole.substr(0, whole.size() - 500) + std::string(500, '\0'));
  const Finished refused = run_into(folder, name);
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr(output + ": the numbers of row 6 (" +
                                     folder.path("in/005.bmp") + ") do not match the "));
  ASSERT_EQ(run_into(folder, name, {"--retry-failed"}).status, 0);
  EXPECT_EQ(read_file(output), whole);
  EXPECT_EQ(read_file(output + ".jsonl"), list);
}

TEST(DamagedOutput, IsNotTakenForOtherOptionsWhereTheHeaderIsDamaged) {
  for (const std::string name : {"r.csv", "r.jsonl", "r.db", "f.npy"}) {
    const Folder folder;
    write_images(folder, 6);
    ASSERT_EQ(run_into(folder, name).status, 0);
    const std::string header =
        name == "r.db" ? name : name + (name == "f.npy" ? ".jsonl" : "") + ".run.json";
    const std::string whole = read_file(folder.path(header));
    std::string flipped = whole;
    const size_t place = flipped.find("\"exif\":\"apply") + 9;
    ASSERT_EQ(flipped[place], 'p') << name << flipped.substr(place - 9, 20);
    flipped[place] ^= 1;
    folder.write(header, flipped);
    const Finished refused = run_into(folder, name);
    EXPECT_EQ(refused.status, 1) << name;
    EXPECT_THAT(refused.err, HasSubstr(": the header is not what was written, by the checksums"));
    EXPECT_EQ(refused.err.find("has other options"), std::string::npos) << refused.err;
    EXPECT_EQ(read_file(folder.path(header)), flipped) << name;
    EXPECT_EQ(run_into(folder, name, {"--restart"}).status, 0) << name;
  }
}

TEST(DamagedOutput, StartsADamagedDatabaseAgainWhenToldTo) {
  const Folder folder;
  write_images(folder, 60);
  const std::string name = "r.db", output = folder.path(name);
  ASSERT_EQ(run_into(folder, name).status, 0);
  const std::string whole = content_of(output), bytes = read_file(output);
  folder.write("r.db", bytes.substr(0, bytes.size() - 100));
  const Finished refused = run_into(folder, name);
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(refused.err, "vit: " + output +
                             ": this database is damaged (its last page is truncated); restore a "
                             "copy of it, or start again with --restart\n");
  ASSERT_EQ(run_into(folder, name, {"--restart"}).status, 0);
  EXPECT_EQ(content_of(output), whole);
}

TEST(CsvSafe, ResumesCsvThatIsSafeForSpreadsheets) {
  const Folder folder;
  write_images(folder, 6);
  const std::string name = "r.csv", output = folder.path(name);
  ASSERT_EQ(run_into(folder, name, {"--csv-safe"}).status, 0);
  const std::string whole = read_file(output);
  EXPECT_THAT(read_file(output + ".run.json"), HasSubstr("\"csv_safe\":true"));
  folder.write("r.csv", whole.substr(0, whole.size() - 90));
  ASSERT_EQ(run_into(folder, name, {"--csv-safe"}).status, 0);
  EXPECT_EQ(read_file(output), whole);
  EXPECT_THAT(run_into(folder, name).err,
              HasSubstr("options.csv_safe is true in the file, null now"));
  const Finished json = run_into(folder, "r.jsonl", {"--csv-safe"});
  EXPECT_EQ(json.status, 2);
  EXPECT_THAT(json.err, HasSubstr("--csv-safe applies to CSV only, expected -o FILE.csv"));
}

}  // namespace
}  // namespace vit::tools
