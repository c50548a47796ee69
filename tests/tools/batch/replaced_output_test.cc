/// Files that replace others: files beside the old ones must not affect the new ones.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "tests/tools/subprocess.h"
#include "tools/rows/results.h"
#include "tools/rows/sqlite_file.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

const std::string kHeader = R"({"vit":"1","options":{"top":2}})";
const RowShape kShape{.top = 2};

void write_rows(Results& results, size_t count) {
  results.start(kHeader);
  for (size_t i = 1; i <= count; ++i) {
    Row row;
    row.input.number = i;
    row.input.path = "in/" + std::to_string(count) + "-" + std::to_string(i) + ".jpg";
    row.predictions = {{3, "cat", 0.5f}, {1, "dog", 0.25f}};
    results.append(row);
  }
  results.flush();
}

std::vector<std::string> paths_in(const std::string& path) {
  Results results(path, ResultKind::kSqlite, kShape);
  EXPECT_EQ(results.read_header(), kHeader);
  std::vector<std::string> paths;
  while (const auto row = results.next()) paths.push_back(row->path);
  return paths;
}

/// As a kill leaves it: rows that are only in the log.
void leave_killed_database(const Folder& folder, const std::string& name, size_t rows) {
  Results running(folder.path("running.db"), ResultKind::kSqlite, kShape);
  write_rows(running, rows);
  for (const auto* ending : {"", "-wal"})
    fs::copy_file(folder.path("running.db") + ending, folder.path(name) + ending);
}

TEST(ReplacedOutput, IsNotChangedByTheLogOfTheDatabaseBefore) {
  const Folder folder;
  leave_killed_database(folder, "r.db", 9);
  {
    Results fresh(folder.path("new.db"), ResultKind::kSqlite, kShape);
    write_rows(fresh, 2);
    fresh.finish();
  }
  move_result(folder.path("new.db"), folder.path("r.db"), ResultKind::kSqlite);
  EXPECT_THAT(paths_in(folder.path("r.db")), testing::ElementsAre("in/2-1.jpg", "in/2-2.jpg"));
}

TEST(ReplacedOutput, SettlesTheLogOfADatabaseThatIsStillNeeded) {
  const Folder folder;
  leave_killed_database(folder, "r.db", 9);
  SqliteFile::settle(folder.path("r.db"));
  fs::remove(folder.path("r.db-wal"));
  EXPECT_EQ(paths_in(folder.path("r.db")).size(), 9u);
}

/// A kill while a database changes from its first journal mode.
TEST(ReplacedOutput, IsADatabaseWhoseJournalAKillHasLeft) {
  const Folder folder;
  {
    Results results(folder.path("r.db"), ResultKind::kSqlite, kShape);
    write_rows(results, 3);
    results.finish();
  }
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(folder.path("r.db").c_str(), &database), SQLITE_OK);
  const auto execute = [&](const char* sql) {
    ASSERT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sql;
  };
  execute("PRAGMA journal_mode = DELETE");
  execute("PRAGMA cache_size = 1");
  execute("BEGIN IMMEDIATE");
  execute("CREATE TABLE filling (text)");
  execute(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) "
      "INSERT INTO filling SELECT hex(randomblob(200)) FROM n");
  for (const auto* ending : {"", "-journal"})
    fs::copy_file(folder.path("r.db") + ending, folder.path("killed.db") + ending);
  sqlite3_close(database);
  ASSERT_GT(fs::file_size(folder.path("killed.db-journal")), 512u);
  EXPECT_EQ(paths_in(folder.path("killed.db")).size(), 3u);
}

TEST(ReplacedOutput, KeepsWhoMayReadIt) {
  const Folder folder;
  for (const auto* name : {"old.csv", "new.csv"}) {
    Results results(folder.path(name), ResultKind::kCsv, kShape);
    write_rows(results, 2);
    results.finish();
  }
  ::chmod(folder.path("old.csv").c_str(), 0600);
  move_result(folder.path("new.csv"), folder.path("old.csv"), ResultKind::kCsv);
  struct stat status {};
  ASSERT_EQ(stat(folder.path("old.csv").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

}  // namespace
}  // namespace vit::tools
