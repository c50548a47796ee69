/// Files of rows that were changed after they were written are noticed; a file that a killed run
/// left is never taken for one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstring>
#include <filesystem>
#include <functional>

#include "tests/support/message_of.h"
#include "tests/tools/subprocess.h"
#include "tools/rows/numpy_file.h"
#include "tools/rows/results.h"
#include "tools/rows/sums.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

using vit::test::message_of;
namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kHeader = R"({"vit":"1","options":{"top":2}})";
constexpr size_t kRows = 9, kRowsAtOnce = 2;

RowShape shape_for(const std::string& name) {
  return name.ends_with(".npy") ? RowShape{.features = {2}} : RowShape{.top = 2};
}

Row row(size_t number) {
  Row made;
  made.input.number = number;
  made.input.path = "in/photo " + std::to_string(number) + ".jpg";
  if (number % 4 == 3)
    made.reason = "cut, \"short\"";
  else
    made.predictions = {{number, "cat, \"tabby\"", 0.1f}, {1, "dog\nhouse", 1e-12f}};
  made.features = {static_cast<float>(number), 0.5f};
  return made;
}

/// Appends the missing rows, a few at once.
void append_rest(Results& results, size_t there) {
  for (size_t i = there + 1; i <= kRows; ++i) {
    results.append(row(i));
    if (i % kRowsAtOnce == 0) results.flush();
  }
  results.finish();
}

void write_rows(const std::string& path) {
  Results results(path, *result_kind(path), shape_for(path));
  results.read_header();
  results.start(kHeader);
  append_rest(results, 0);
}

/// As a run does it: throws, or leaves the whole file.
void resume(const std::string& path) {
  Results results(path, *result_kind(path), shape_for(path));
  const auto header = results.read_header();
  if (header && *header != kHeader) {
    results.check_damage();
    fail("another header");
  }
  if (!header) results.start(kHeader);
  size_t there = 0;
  while (header && results.next()) ++there;
  append_rest(results, there);
}

void flip(const std::string& path, size_t byte, int bit) {
  std::string bytes = read_file(path);
  bytes[byte] = static_cast<char>(bytes[byte] ^ (1 << bit));
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(Damage, OfOneBitIsNoticedWhereverItIs) {
  for (const auto* name : {"r.csv", "r.jsonl", "f.npy.jsonl", "f.npy"}) {
    const Folder folder;
    const std::string output = folder.path(std::string(name).starts_with("f.") ? "f.npy" : name);
    write_rows(output);
    const std::string path = folder.path(name), whole = read_file(path);
    const size_t first = path.ends_with(".npy") ? 128 : 0;  // NumPy's header is rewritten
    for (size_t byte = first; byte < whole.size(); ++byte) {
      flip(path, byte, static_cast<int>(byte % 8));
      EXPECT_NE(message_of([&] { resume(output); }), "no error") << name << " at byte " << byte;
      EXPECT_EQ(read_file(path).size(), whole.size()) << "nothing is thrown away";
      folder.write(name, whole);
    }
    EXPECT_EQ(message_of([&] { resume(output); }), "no error");
    EXPECT_EQ(read_file(path), whole);
  }
}

TEST(Damage, NamesItsRowsAndWhatToDo) {
  const Folder folder;
  const std::string path = folder.path("r.csv");
  write_rows(path);
  flip(path, read_file(path).find("photo 4"), 1);
  EXPECT_EQ(message_of([&] { resume(path); }),
            path +
                ": rows 3 to 4 are not what was written, by the checksums in r.csv.sums; if the "
                "change was made on purpose, remove " +
                path +
                ".sums to accept the file; otherwise restore a copy of the file, or "
                "start again with --restart");
  fs::remove(path + ".sums");
  EXPECT_EQ(message_of([&] { resume(path); }), "no error");
  EXPECT_TRUE(fs::exists(path + ".sums")) << "checked from here on";
  flip(path, read_file(path).find("photo 9"), 1);
  EXPECT_THAT(message_of([&] { resume(path); }), HasSubstr("rows 1 to 9 are not what was written"));
  Results restarted(path, ResultKind::kCsv, shape_for(path));
  EXPECT_EQ(restarted.read_header(), kHeader) << "--restart needs no whole rows";
}

TEST(Damage, OfARemovedRowIsNoticed) {
  const Folder folder;
  const std::string path = folder.path("r.jsonl");
  write_rows(path);
  std::string text = read_file(path);
  const size_t start = text.find("{\"number\":5"), end = text.find('\n', start) + 1;
  folder.write("r.jsonl", text.erase(start, end - start));
  EXPECT_THAT(message_of([&] { resume(path); }), HasSubstr("rows 5 to 6 are not what was written"));
}

/// After a kill the file and its checksums are each complete up to some byte; after a crash of the
/// machine every combination is possible.
TEST(Damage, IsNotReportedAfterAKill) {
  for (const auto* name : {"r.csv", "r.jsonl"}) {
    const Folder folder;
    const std::string path = folder.path(name);
    write_rows(path);
    const std::string whole = read_file(path), sums = read_file(path + ".sums");
    const auto resumes = [&](size_t size, size_t sums_size) {
      folder.write(name, whole.substr(0, size));
      folder.write(std::string(name) + ".sums", sums.substr(0, sums_size));
      ASSERT_EQ(message_of([&] { resume(path); }), "no error")
          << name << " " << size << " " << sums_size;
      ASSERT_EQ(read_file(path), whole) << name << " " << size << " " << sums_size;
    };
    for (size_t size = 0; size <= whole.size(); ++size) resumes(size, sums.size());
    for (size_t size = 0; size <= sums.size(); ++size) resumes(whole.size(), size);
    for (size_t size = 0; size <= whole.size(); size += 7)
      for (size_t sums_size = 0; sums_size <= sums.size(); sums_size += 11)
        resumes(size, sums_size);
    // Checked again from the beginning.
    flip(path, whole.size() / 2, 0);
    EXPECT_NE(message_of([&] { resume(path); }), "no error");
  }
}

TEST(Damage, OfAChecksumLineDoesNotMakeRowsLookDamaged) {
  const Folder folder;
  const std::string path = folder.path("r.csv");
  write_rows(path);
  const std::string whole = read_file(path), sums = read_file(path + ".sums");
  for (size_t byte = 0; byte < sums.size(); ++byte) {
    folder.write("r.csv.sums", sums);
    flip(path + ".sums", byte, static_cast<int>(byte % 8));
    ASSERT_EQ(message_of([&] { resume(path); }), "no error") << byte;
    ASSERT_EQ(read_file(path), whole);
  }
}

TEST(Damage, IsNotReportedForChecksumsWithoutTheirFile) {
  const Folder folder;
  const std::string path = folder.path("r.csv");
  write_rows(path);
  const std::string whole = read_file(path);
  fs::remove(path);
  EXPECT_EQ(message_of([&] { resume(path); }), "no error");
  EXPECT_EQ(read_file(path), whole);
}

TEST(Damage, OfATailOfNumbersIsNoticedAndTheRowsComputedAgain) {
  for (const char filling : {'\0', 'x'}) {
    const Folder folder;
    const std::string path = folder.path("f.npy");
    write_rows(path);
    const std::string whole = read_file(path);
    folder.write("f.npy", whole.substr(0, 128 + 6 * 8) + std::string(3 * 8, filling));
    EXPECT_EQ(message_of([&] { resume(path); }),
              path +
                  ": the numbers of row 7 (in/photo 7.jpg) do not match the checksum in "
                  "f.npy.jsonl; --retry-failed computes such rows again, in place");
    Results results(path, ResultKind::kNumpy, shape_for(path));
    results.take_damaged_as_failed();
    results.read_header();
    std::string failed;
    while (const auto stored = results.next()) failed += stored->failed ? 'f' : '.';
    EXPECT_EQ(failed, "..f...fff");
  }
}

void execute(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
}

TEST(Damage, OfADatabaseIsNoticed) {
  const auto message_after = [](const std::string& sql) {
    const Folder folder;
    const std::string path = folder.path("r.db");
    write_rows(path);
    execute(path, sql);
    std::string message = message_of([&] { resume(path); });
    return message.substr(std::min(message.size(), path.size()));
  };
  const auto refused = [](const std::string& rows) {
    return testing::StartsWith(": " + rows +
                               " not what was written, by the checksums in the table \"sums\"; if "
                               "the change was made on purpose, remove them (sqlite3 ");
  };
  EXPECT_EQ(message_after("SELECT 1"), "");
  EXPECT_THAT(message_after("UPDATE results SET label = 'dog' WHERE number = 4"),
              refused("rows 3 to 4 are"));
  EXPECT_THAT(message_after("UPDATE results SET probability = probability * 2 WHERE number = 9"),
              refused("row 9 is"));
  EXPECT_THAT(message_after("DELETE FROM results WHERE number = 9"), refused("row 9 is"));
  EXPECT_THAT(message_after("DELETE FROM results WHERE number = 1"), refused("row 1 is"));
  EXPECT_EQ(message_after("UPDATE results SET label = 'dog'; DROP TABLE sums"), "");
}

std::vector<std::string> rows_in(const std::string& path) {
  Results results(path, ResultKind::kSqlite, shape_for(path));
  std::vector<std::string> rows;
  results.read_header();
  while (const auto stored = results.next())
    rows.push_back(std::to_string(stored->number) + stored->path + (stored->failed ? "!" : ""));
  return rows;
}

TEST(Damage, OfADatabaseThatWasCutIsNoticed) {
  const Folder folder;
  const std::string path = folder.path("r.db");
  write_rows(path);
  const std::string whole = read_file(path);
  const auto rows = rows_in(path);
  EXPECT_EQ(rows.size(), kRows);
  for (size_t cut = 1; cut < whole.size(); cut += 97) {
    folder.write("r.db", whole.substr(0, whole.size() - cut));
    const std::string message = message_of([&] { resume(path); });
    EXPECT_THAT(message, testing::StartsWith(path + ": ")) << cut;
    EXPECT_EQ(read_file(path).size(), whole.size() - cut) << "nothing is added or thrown away";
  }
  folder.write("r.db", whole.substr(0, whole.size() - 1));
  EXPECT_EQ(message_of([&] { resume(path); }),
            path +
                ": this database is damaged (its last page is truncated); restore a copy of it, "
                "or start again with --restart");
}

TEST(Results, LeaveAForeignDatabaseUnchanged) {
  for (const auto* mode : {"DELETE", "WAL"}) {
    const Folder folder;
    const std::string path = folder.path("r.db");
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    const std::string sql = "PRAGMA journal_mode = " + std::string(mode) +
                            "; CREATE TABLE people (name); INSERT INTO people VALUES ('Ada')";
    ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    if (std::string(mode) == "DELETE") sqlite3_close(database);
    const std::string before = read_file(path);
    {
      Results results(path, ResultKind::kSqlite, {.top = 2});
      EXPECT_EQ(message_of([&] { results.read_header(); }),
                path +
                    ": exists and is not a file of results by vit; give another name, or remove "
                    "it");
    }
    EXPECT_EQ(read_file(path), before) << mode;
    if (std::string(mode) == "WAL") sqlite3_close(database);
  }
}

TEST(Results, MakeFormulasInCsvHarmlessAndReadTheirPathsAgain) {
  const Folder folder;
  const std::string path = folder.path("r.csv");
  const std::vector<std::string> paths{"=1+1.jpg", "+a",  "-a",   "@a",  "\ta", "\ra",
                                       "'=a",      "''-", "'tis", "a=b", "'"};
  const RowShape shape{.top = 1, .csv_safe = true};
  {
    Results results(path, ResultKind::kCsv, shape);
    results.read_header();
    results.start(kHeader);
    for (const auto& each : paths) {
      Row made;
      made.input.number = 1;
      made.input.path = each;
      made.predictions = {{3, "=cmd|' /C calc'!A0", 0.5f}};
      results.append(made);
    }
    results.finish();
  }
  const std::string csv = read_file(path);
  EXPECT_THAT(csv, HasSubstr("\n1,'=1+1.jpg,ok,,3,'=cmd|' /C calc'!A0,0.5,\n"));
  EXPECT_THAT(csv, HasSubstr("\n1,'tis,ok,"));
  EXPECT_THAT(csv, HasSubstr("\n1,''=a,ok,"));
  Results results(path, ResultKind::kCsv, shape);
  results.read_header();
  std::vector<std::string> read;
  while (const auto stored = results.next()) read.push_back(stored->path);
  EXPECT_EQ(read, paths);
}

}  // namespace
}  // namespace vit::tools
