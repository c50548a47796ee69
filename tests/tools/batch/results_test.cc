/// Files of rows: everything written is read again, even after a kill at the worst moment.
#include "tools/rows/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <nlohmann/json.hpp>

#include "tests/tools/subprocess.h"
#include "tools/output/csv.h"
#include "tools/output/lock.h"
#include "tools/output/path_text.h"
#include "tools/rows/header.h"
#include "tools/rows/numpy_file.h"
#include "tools/rows/record.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kHeader = R"({"vit":"1","options":{"top":2}})";
const RowShape kShape{.top = 2};

Row row(std::uint64_t number, const std::string& path, const std::string& reason = "") {
  Row made;
  made.input.number = number;
  made.input.path = path;
  made.reason = reason;
  if (reason.empty()) made.predictions = {{3, "cat, \"tabby\"", 0.1f}, {1, "dog\nhouse", 1e-12f}};
  return made;
}

std::vector<Row> awkward_rows() {
  return {row(1, "plain.jpg"), row(2, "comma, quote\" and\nline.jpg"), row(3, "caf\xe9.jpg"),
          row(4, "日本.jpg", "cannot, \"really\""), row(5, " blank ", "\xff bytes")};
}

std::vector<std::string> paths_in(Results& results) {
  std::vector<std::string> paths;
  while (const auto stored = results.next())
    paths.push_back(std::to_string(stored->number) + (stored->failed ? " failed " : " ok ") +
                    stored->path);
  return paths;
}

const std::vector<std::string> kAwkward{"1 ok plain.jpg", "2 ok comma, quote\" and\nline.jpg",
                                        "3 ok caf\xe9.jpg", "4 failed 日本.jpg",
                                        "5 failed  blank "};

void write_awkward(const std::string& path, ResultKind kind) {
  Results results(path, kind, kShape);
  EXPECT_EQ(results.read_header(), std::nullopt);
  results.start(kHeader);
  for (const auto& each : awkward_rows()) results.append(each);
  results.finish();
}

TEST(Results, GiveBackWhatWasWritten) {
  for (const auto* name : {"r.csv", "r.jsonl", "r.db"}) {
    const Folder folder;
    const auto kind = *result_kind(name);
    write_awkward(folder.path(name), kind);
    Results results(folder.path(name), kind, kShape);
    EXPECT_EQ(results.read_header(), kHeader) << name;
    EXPECT_EQ(paths_in(results), kAwkward) << name;
  }
}

TEST(Results, AreTextThatOthersCanRead) {
  const Folder folder;
  write_awkward(folder.path("r.csv"), ResultKind::kCsv);
  write_awkward(folder.path("r.jsonl"), ResultKind::kJsonl);
  const std::string csv = read_file(folder.path("r.csv")),
                    jsonl = read_file(folder.path("r.jsonl"));
  EXPECT_TRUE(is_utf8(csv));
  EXPECT_THAT(csv, HasSubstr("number,path,status,reason,class_1,label_1,probability_1,class_2,"
                             "label_2,probability_2,path_hex\n1,plain.jpg,ok,,3,"));
  EXPECT_THAT(csv,
              HasSubstr("\n1,plain.jpg,ok,,3,\"cat, \"\"tabby\"\"\",0.1,1,\"dog\nhouse\",1e-12,"
                        "\n"));
  EXPECT_THAT(csv, HasSubstr(",\"dog\nhouse\",1e-12,636166e92e6a7067\n"));
  std::istringstream lines(jsonl);
  std::vector<nlohmann::json> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(rows.size(), 5u) << "nothing but rows";
  EXPECT_EQ(rows[2]["path"], "caf\xEF\xBF\xBD.jpg");
  EXPECT_EQ(rows[2]["path_hex"], "636166e92e6a7067");
  EXPECT_EQ(rows[0]["predictions"][0]["label"], "cat, \"tabby\"");
  EXPECT_EQ(rows[3]["reason"], "cannot, \"really\"");
}

TEST(Results, HaveAsManyFieldsInEveryLineOfCsv) {
  Row few = row(7, "x");
  few.predictions.pop_back();
  const auto fields = [](const std::string& record) { return csv_fields(record)->size(); };
  const std::string start = opening(TextFormat::kCsv, kShape);
  EXPECT_EQ(fields(start), 11u);
  EXPECT_EQ(fields(to_record(TextFormat::kCsv, kShape, few)), 11u);
  for (const auto& each : awkward_rows())
    EXPECT_EQ(fields(to_record(TextFormat::kCsv, kShape, each)), 11u);
}

/// The first record of files of earlier versions is the header.
std::string with_header_record(const std::string& rows, ResultKind kind) {
  if (kind == ResultKind::kJsonl)
    return R"({"number":0,"status":"header","header":)" + kHeader + "}\n" + rows;
  const size_t line = rows.find('\n') + 1;
  return rows.substr(0, line) + "0,,header," + csv_field(kHeader) + ",,,,,,,\n" + rows.substr(line);
}

TEST(Results, OfEarlierVersionsAreReadAndResumed) {
  for (const auto* name : {"r.csv", "r.jsonl"}) {
    const Folder folder;
    const auto kind = *result_kind(name);
    const std::string path = folder.path(name);
    write_awkward(path, kind);
    const std::string old = with_header_record(read_file(path), kind);
    std::filesystem::remove(path + ".run.json");
    std::filesystem::remove(path + ".sums");
    folder.write(name, old);
    {
      Results results(path, kind, kShape);
      EXPECT_EQ(results.read_header(), kHeader) << name;
      EXPECT_EQ(paths_in(results), kAwkward) << name;
      results.append(row(6, "new.jpg"));
      results.finish();
    }
    EXPECT_TRUE(read_file(path).starts_with(old)) << name;
    EXPECT_FALSE(std::filesystem::exists(path + ".run.json"));
  }
}

TEST(Results, WithoutTheirHeaderAreReadButNotResumed) {
  const Folder folder;
  const std::string path = folder.path("r.csv");
  write_awkward(path, ResultKind::kCsv);
  const std::string whole = read_file(path);
  std::filesystem::remove(path + ".run.json");
  Results copy(path, ResultKind::kCsv, kShape, {.read_only = true});
  EXPECT_EQ(copy.read_header(), R"({"options":{"top":2}})") << "by the columns";
  EXPECT_EQ(paths_in(copy), kAwkward);
  Results resumed(path, ResultKind::kCsv, kShape);
  try {
    resumed.read_header();
    FAIL() << "resumed without the options of the rows";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), path +
                                ": has rows, but r.csv.run.json, which says what made them, is "
                                "missing; put it beside the file, or give another name");
  }
  EXPECT_EQ(read_file(path), whole);
}

TEST(Results, KeepTheStampAndTheFactsOfAPhotograph) {
  const RowShape shape{.top = 2, .csv_safe = true, .stamps = true, .facts = true};
  for (const auto* name : {"r.csv", "r.jsonl", "r.db"}) {
    const Folder folder;
    const auto kind = *result_kind(name);
    Row full = row(1, "a.jpg"), empty = row(2, "b.jpg", "is empty");
    full.stamp = {1234, 1'715'934'600'123'456'000};
    full.facts = {"2024-05-17T08:30:00", "=Camera, \"X\"", -33.5, 151.25};
    const auto kind_shape =
        kind == ResultKind::kCsv ? shape : RowShape{.top = 2, .stamps = true, .facts = true};
    Results results(folder.path(name), kind, kind_shape);
    results.read_header();
    results.start(kHeader);
    results.append(full);
    results.append(empty);
    results.finish();
    Results again(folder.path(name), kind, kind_shape);
    again.read_header();
    const auto stored = again.next();
    ASSERT_TRUE(stored) << name;
    EXPECT_EQ(stored->stamp.bytes, 1234u);
    EXPECT_EQ(stored->stamp.time, full.stamp.time) << name;
    EXPECT_EQ(stored->facts.taken, full.facts.taken);
    EXPECT_EQ(stored->facts.camera, full.facts.camera);
    EXPECT_EQ(stored->facts.latitude, -33.5);
    EXPECT_EQ(stored->facts.longitude, 151.25);
    ASSERT_EQ(stored->predictions.size(), 2u) << name;
    const auto failed = again.next();
    ASSERT_TRUE(failed && failed->failed);
    EXPECT_EQ(failed->stamp.time, 0);
    EXPECT_EQ(failed->remark, "is empty");
    EXPECT_FALSE(failed->facts.latitude);
    if (kind != ResultKind::kCsv) continue;
    EXPECT_THAT(read_file(folder.path(name)),
                HasSubstr(",1e-12,1234,2024-05-17T08:30:00.123456Z,2024-05-17T08:30:00,"
                          "\"'=Camera, \"\"X\"\"\",-33.500000,151.250000,\n"));
  }
}

TEST(Stamp, IsTheTextOfAnyTime) {
  for (const std::int64_t time : {0L, -1'000L, 1'715'934'600'123'456'000L, 253402300799'000'000L})
    EXPECT_EQ(parse_time(time_text(time)), time) << time_text(time);
  EXPECT_EQ(parse_time("17/05/2024 08:30"), std::nullopt) << "as Excel rewrites it";
}

/// Cut off at any byte, a file can be continued and becomes the same in the end.
TEST(Results, AreRepairedWhereverTheyWereCutOff) {
  for (const auto* name : {"r.csv", "r.jsonl"}) {
    const Folder folder;
    const auto kind = *result_kind(name);
    const std::string path = folder.path(name);
    write_awkward(path, kind);
    const std::string whole = read_file(path);
    for (size_t length = 0; length < whole.size(); ++length) {
      folder.write(name, whole.substr(0, length));
      Results results(path, kind, kShape);
      const auto header = results.read_header();
      if (!header) results.start(kHeader);
      size_t there = 0;
      while (header && results.next()) ++there;
      const auto rows = awkward_rows();
      for (size_t i = there; i < rows.size(); ++i) results.append(rows[i]);
      results.finish();
      ASSERT_EQ(read_file(path), whole) << name << " cut after " << length;
    }
  }
}

TEST(Results, ThatAreOnlyFinishedLoseTheirIncompleteRow) {
  const Folder folder;
  write_awkward(folder.path("r.csv"), ResultKind::kCsv);
  const std::string whole = read_file(folder.path("r.csv"));
  folder.write("r.csv", whole + "6,half");
  Results results(folder.path("r.csv"), ResultKind::kCsv, kShape);
  EXPECT_EQ(results.read_header(), kHeader);
  results.finish();
  EXPECT_EQ(read_file(folder.path("r.csv")), whole);
}

TEST(Results, RefuseARowThatIsDamagedAmongOthers) {
  const Folder folder;
  write_awkward(folder.path("r.jsonl"), ResultKind::kJsonl);
  std::string text = read_file(folder.path("r.jsonl"));
  text.replace(text.find("plain"), 7, "\"\"\"\"\"\"\"");
  folder.write("r.jsonl", text);
  std::filesystem::remove(folder.path("r.jsonl.sums"));  // as earlier versions have left it
  Results results(folder.path("r.jsonl"), ResultKind::kJsonl, kShape);
  results.read_header();
  try {
    results.next();
    FAIL() << "took a damaged row";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), folder.path("r.jsonl") +
                                ": row 1 is damaged, and others come after it; start again with "
                                "--restart");
  }
}

TEST(Results, NeverTouchAForeignFile) {
  const Folder folder;
  const std::string other = "name,age\nAda,36\n";
  for (const auto* name : {"r.csv", "r.jsonl"}) {
    folder.write(name, other);
    Results results(folder.path(name), *result_kind(name), kShape);
    EXPECT_THROW(results.read_header(), Error);
    EXPECT_EQ(read_file(folder.path(name)), other);
    EXPECT_FALSE(std::filesystem::exists(folder.path(name + std::string(".sums"))));
  }
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(folder.path("r.db").c_str(), &database), SQLITE_OK);
  sqlite3_exec(database, "CREATE TABLE people (name)", nullptr, nullptr, nullptr);
  sqlite3_close(database);
  Results results(folder.path("r.db"), ResultKind::kSqlite, kShape);
  EXPECT_THROW(results.read_header(), Error);
  folder.write("f.npy", "somebody's numbers");
  Results numbers(folder.path("f.npy"), ResultKind::kNumpy, {.features = {2}});
  EXPECT_THROW(numbers.read_header(), Error);
}

Row vector_row(std::uint64_t number, std::vector<float> features) {
  Row made = row(number, "v" + std::to_string(number), features.empty() ? "broken" : "");
  made.features = std::move(features);
  return made;
}

void write_vectors(const std::string& path) {
  Results results(path, ResultKind::kNumpy, {.features = {2}});
  results.read_header();
  results.start(kHeader);
  results.append(vector_row(1, {1.0f, 2.0f}));
  results.append(vector_row(2, {}));
  results.append(vector_row(3, {3.0f, 4.0f}));
  results.finish();
}

TEST(Results, HoldVectorsAsNumpyReadsThem) {
  const Folder folder;
  write_vectors(folder.path("f.npy"));
  const std::string bytes = read_file(folder.path("f.npy"));
  ASSERT_EQ(bytes.size(), 128u + 3 * 2 * sizeof(float));
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_THAT(bytes.substr(10, 118),
              testing::StartsWith("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2, ), }"));
  EXPECT_EQ(bytes[127], '\n');
  std::vector<float> numbers(6);
  std::memcpy(numbers.data(), bytes.data() + 128, 24);
  EXPECT_EQ(numbers[1], 2.0f);
  EXPECT_TRUE(std::isnan(numbers[2]) && std::isnan(numbers[3]));
  EXPECT_EQ(numbers[4], 3.0f);
}

/// Whichever of the two files lacks rows, both become the same in the end.
TEST(Results, OfVectorsAreRepairedInBothFiles) {
  const Folder folder;
  const std::string path = folder.path("f.npy"), list = sidecar_of(path).string();
  write_vectors(path);
  const std::string numbers = read_file(path), records = read_file(list);
  for (size_t cut_numbers = 128; cut_numbers <= numbers.size(); cut_numbers += 4)
    for (size_t cut_list = 0; cut_list <= records.size(); cut_list += 29) {
      folder.write("f.npy", cut_list < records.find('\n') ? "" : numbers.substr(0, cut_numbers));
      folder.write("f.npy.jsonl", records.substr(0, cut_list));
      Results results(path, ResultKind::kNumpy, {.features = {2}});
      const auto header = results.read_header();
      if (!header) results.start(kHeader);
      size_t there = 0;
      while (header && results.next()) ++there;
      const std::vector<Row> rows{vector_row(1, {1, 2}), vector_row(2, {}), vector_row(3, {3, 4})};
      for (size_t i = there; i < rows.size(); ++i) results.append(rows[i]);
      results.finish();
      ASSERT_EQ(read_file(path), numbers) << cut_numbers << " " << cut_list;
      ASSERT_EQ(read_file(list), records) << cut_numbers << " " << cut_list;
    }
}

TEST(Header, SaysWhatDiffers) {
  const Json a = Json::parse(R"({"vit":"1","options":{"top":5,"exif":"apply"},"gone":1})");
  const Json b = Json::parse(R"({"vit":"1","options":{"top":3,"exif":"apply"},"new":[2]})");
  EXPECT_THAT(differences(a, b),
              ElementsAre("gone is 1 in the file, null now", "new is null in the file, [2] now",
                          "options.top is 5 in the file, 3 now"));
  EXPECT_THAT(differences(a, a), IsEmpty());
}

TEST(OutputLock, LetsOneInAtATimeAndLeavesNothing) {
  const Folder folder;
  const std::string path = folder.path("r.csv");
  {
    const OutputLock first(path);
    try {
      const OutputLock second(path);
      FAIL() << "two at once";
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), path + ": another vit is writing this file; wait for it, or end it");
    }
  }
  EXPECT_FALSE(std::filesystem::exists(path + ".lock"));
  folder.write("r.csv.lock", "");  // left by a program that was killed
  const OutputLock again(path);
}

TEST(OutputLock, NamesAFolderThatIsNotThere) {
  const Folder folder;
  try {
    const OutputLock lock(folder.path("no/r.csv"));
    FAIL() << "wrote to nowhere";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(),
              folder.path("no/r.csv") + ": cannot write: there is no folder " + folder.path("no"));
  }
}

}  // namespace
}  // namespace vit::tools
