#include "tools/rows/sqlite_file.h"

#include <sqlite3.h>

#include <algorithm>
#include <limits>

#include "tools/rows/sqlite_table.h"
#include "tools/rows/sums.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

constexpr int kPatience = 10'000;  // ms to wait for readers

constexpr const char* kCreateSums =
    "CREATE TABLE IF NOT EXISTS sums (last INTEGER PRIMARY KEY, crc32 INTEGER NOT NULL)";
constexpr const char* kCreateRun = "CREATE TABLE run (header TEXT NOT NULL, crc32 INTEGER)";

/// Whether part of the database is in its write-ahead log.
bool has_log(const std::string& path) {
  std::error_code none;
  const auto size = std::filesystem::file_size(path + "-wal", none);
  return !none && size != 0;
}

/// Opens the database as immutable: it is read without locks and side files.
std::string immutable_uri(const std::string& path) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : path) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '%' || c == '?' || c == '#')
      uri += {'%', kDigits[code >> 4], kDigits[code & 15]};
    else
      uri += c;
  }
  return uri + "?immutable=1";
}

}  // namespace

void SqliteFile::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

SqliteFile::SqliteFile(const std::filesystem::path& path, const RowShape& shape, bool read_only)
    : path_(path.string()), wanted_(shape), shape_(shape), read_only_(read_only) {}

SqliteFile::~SqliteFile() {
  close();
}

void SqliteFile::close() {
  reading_.reset();
  inserting_.reset();
  sums_.reset();
  if (writing_) sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
  writing_ = false;
  sqlite3_close(database_);
  database_ = nullptr;
}

void SqliteFile::open(int flags) {
  close();
  const std::string name = (flags & SQLITE_OPEN_URI) != 0 ? immutable_uri(path_) : path_;
  if (sqlite3_open_v2(name.c_str(), &database_, flags, nullptr) != SQLITE_OK) {
    const std::string reason = sqlite3_errmsg(database_);
    close();
    fail_at(path_, "cannot open this database: ", reason);
  }
  sqlite3_busy_timeout(database_, kPatience);
}

void SqliteFile::open_to_write() {
  open(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  execute("PRAGMA journal_mode = WAL");
  execute("PRAGMA synchronous = NORMAL");
}

void SqliteFile::settle(const std::filesystem::path& path) {
  SqliteFile file(path, {});
  file.open(SQLITE_OPEN_READWRITE);
  sqlite3_exec(file.database_, "PRAGMA wal_checkpoint(TRUNCATE)", nullptr, nullptr, nullptr);
}

void SqliteFile::open_to_look() {
  // Readers of a database in WAL mode write files beside it, which a folder may not allow. Without
  // a log there is nothing in them to be read.
  if (read_only_ && !has_log(path_)) return open(SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  open(SQLITE_OPEN_READONLY);
  // A journal that a killed run has left can be rolled back by a writer only.
  if (sqlite3_exec(database_, "SELECT 1 FROM sqlite_master", nullptr, nullptr, nullptr) ==
      SQLITE_READONLY)
    open(SQLITE_OPEN_READWRITE);
}

std::optional<std::string> SqliteFile::read_header() {
  if (!std::filesystem::exists(path_)) return std::nullopt;
  open_to_look();
  auto header = look();
  if (header && !read_only_) open_to_write();
  return header;
}

std::optional<std::string> SqliteFile::look() {
  const auto tables = prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('sums', 'run')");
  const int found = sqlite3_step(tables.get());
  if (found == SQLITE_DONE) return std::nullopt;
  if (found != SQLITE_ROW) refuse("read");
  const std::string name = text_of(tables.get(), 0);
  if (name == "results" && sqlite3_step(tables.get()) == SQLITE_DONE) {
    const auto has = [&](const char* sql) {
      return sqlite3_step(prepare(sql).get()) == SQLITE_ROW;
    };
    shape_.stamps = has("SELECT 1 FROM pragma_table_info('results') WHERE name = 'modified'");
    shape_.facts = has("SELECT 1 FROM pragma_table_info('results') WHERE name = 'taken'");
    const bool own_table = has("SELECT 1 FROM sqlite_master WHERE name = 'run'");
    const auto header = prepare(own_table ? "SELECT header, crc32 FROM run"
                                          : "SELECT reason, NULL FROM results WHERE number = 0 AND "
                                            "status = 'header' ORDER BY id LIMIT 1");
    const int result = sqlite3_step(header.get());
    if (result == SQLITE_ROW) {
      std::string text = text_of(header.get(), 0);
      header_intact_ = sqlite3_column_type(header.get(), 1) == SQLITE_NULL ||
                       sqlite3_column_int64(header.get(), 1) == std::int64_t{checksum(text)};
      return text;
    }
    if (result != SQLITE_DONE) refuse("read");
  }
  fail_at(path_, "exists and is not a file of results by vit; give another name, or remove it");
}

void SqliteFile::quick_check() {
  std::string found = cut_short();
  if (found.empty()) {
    const auto check = prepare("PRAGMA quick_check(1)");
    const bool answered = sqlite3_step(check.get()) == SQLITE_ROW;
    found = answered ? text_of(check.get(), 0) : sqlite3_errmsg(database_);
  }
  if (found == "ok") return;
  fail_as<DamagedRows>(path_, "this database is damaged (",
                       found.substr(found.find_last_of('\n') + 1),
                       "); restore a copy of it, or start again with --restart");
}

std::string SqliteFile::cut_short() {
  // The missing part of a page may be in the write-ahead log; otherwise SQLite reads it as
  // zeros.
  if (has_log(path_)) return "";
  const auto page = prepare("PRAGMA page_size");
  if (sqlite3_step(page.get()) != SQLITE_ROW) return sqlite3_errmsg(database_);
  const auto page_size = static_cast<std::uint64_t>(sqlite3_column_int64(page.get(), 0));
  if (std::filesystem::file_size(path_) % page_size == 0) return "";
  return "its last page is truncated";
}

std::optional<StoredRow> SqliteFile::next() {
  if (!reading_) {
    quick_check();
    if (!header_intact_)
      fail_as<DamagedRows>(path_,
                           "the header is not what was written, by the checksums in the "
                           "table \"run\"; restore a copy of it, or start again with --restart");
    read_first_sum();
    reading_ = prepare(select_sql(shape_));
    sqlite3_bind_int64(reading_.get(), 1, std::numeric_limits<sqlite3_int64>::min());
  }
  sqlite3_stmt* row = reading_.get();
  while (true) {
    const int result = sqlite3_step(row);
    if (result == SQLITE_DONE) break;
    if (result != SQLITE_ROW) refuse("read");
    const bool header = sqlite3_column_int64(row, kNumber) == 0;
    if (!header) ++rows_;
    check_row(sqlite3_column_int64(row, kId));
    if (header) continue;
    return read_row(row, shape_);
  }
  check_row(std::nullopt);
  sqlite3_reset(row);  // or the database could not be checkpointed
  return std::nullopt;
}

void SqliteFile::read_first_sum() {
  rows_ = block_start_ = 0;
  sum_ = 0;
  block_end_ = 0;
  const auto table = prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'sums'");
  if (sqlite3_step(table.get()) != SQLITE_ROW) return;
  sums_ = prepare("SELECT last, crc32 FROM sums ORDER BY last");
  read_next_sum();
}

void SqliteFile::read_next_sum() {
  block_end_ = 0;
  if (!sums_) return;
  const int result = sqlite3_step(sums_.get());
  if (result == SQLITE_ROW) {
    block_end_ = sqlite3_column_int64(sums_.get(), 0);
    block_sum_ = static_cast<std::uint32_t>(sqlite3_column_int64(sums_.get(), 1));
    return;
  }
  if (result != SQLITE_DONE) refuse("read");
  sums_.reset();
}

void SqliteFile::check_row(std::optional<std::int64_t> id) {
  if (block_end_ == 0) return;
  if (id) sum_ = sum_of_row(reading_.get(), sum_);
  if (id && *id < block_end_) return;
  if (!id || *id > block_end_ || sum_ != block_sum_) {
    const bool header = block_end_ == 1;
    fail_as<DamagedRows>(
        path_, changed_rows_text(block_start_, std::max(rows_, block_start_ + !header)),
        ", by the checksums in the table \"sums\"; if the change was made on purpose, remove them "
        "(sqlite3 ",
        path_,
        " 'DROP TABLE sums') to accept the file; otherwise restore a copy of it, or start again "
        "with --restart");
  }
  sum_ = 0;
  block_start_ = rows_;
  read_next_sum();
}

void SqliteFile::start(std::string_view header) {
  close();
  std::error_code ignored;
  const std::string place = std::filesystem::weakly_canonical(path_, ignored).string();
  for (const auto* ending : {"-wal", "-shm", "-journal", ""})
    std::filesystem::remove(place + ending, ignored);
  open_to_write();
  begin();
  shape_ = wanted_;
  execute(create_table_sql(shape_));
  execute(kCreateSums);
  execute(kCreateRun);
  const auto insert = prepare("INSERT INTO run (header, crc32) VALUES (?, ?)");
  bind_text(insert.get(), 1, header);
  sqlite3_bind_int64(insert.get(), 2, std::int64_t{checksum(header)});
  step(insert.get());
  header_intact_ = true;
  flush();
}

sqlite3_stmt* SqliteFile::insertion() {
  begin();
  if (!inserting_) inserting_ = prepare(insert_sql(shape_));
  sqlite3_reset(inserting_.get());
  return inserting_.get();
}

void SqliteFile::append(const Row& row) {
  sqlite3_stmt* insert = insertion();
  bind_row(insert, shape_, row);
  step(insert);
}

void SqliteFile::append_stored(SqliteFile& other, std::uint64_t number) {
  sqlite3_stmt* insert = insertion();
  bind_stored(insert, other.reading_.get(), number);
  step(insert);
}

void SqliteFile::flush() {
  if (!writing_) return;
  if (inserting_) sqlite3_reset(inserting_.get());
  insert_sum();
  execute("COMMIT");
  writing_ = false;
}

void SqliteFile::insert_sum() {
  execute(kCreateSums);  // in a file of an earlier version
  const auto last = prepare("SELECT COALESCE(MAX(last), 0) FROM sums");
  if (sqlite3_step(last.get()) != SQLITE_ROW) refuse("read");
  const auto rows = prepare(select_sql(shape_));
  sqlite3_bind_int64(rows.get(), 1, sqlite3_column_int64(last.get(), 0));
  std::uint32_t sum = 0;
  sqlite3_int64 id = 0;
  int result = SQLITE_DONE;
  while ((result = sqlite3_step(rows.get())) == SQLITE_ROW) {
    sum = sum_of_row(rows.get(), sum);
    id = sqlite3_column_int64(rows.get(), kId);
  }
  if (result != SQLITE_DONE) refuse("read");
  if (id == 0) return;
  const auto insert = prepare("INSERT INTO sums (last, crc32) VALUES (?, ?)");
  sqlite3_bind_int64(insert.get(), 1, id);
  sqlite3_bind_int64(insert.get(), 2, static_cast<sqlite3_int64>(sum));
  step(insert.get());
}

void SqliteFile::finish() {
  if (database_ == nullptr) return;
  flush();
  reading_.reset();
  execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

SqliteFile::Statement SqliteFile::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    refuse("open");
  return Statement(statement);
}

void SqliteFile::execute(const std::string& sql) {
  if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) refuse("write");
}

void SqliteFile::begin() {
  if (writing_) return;
  execute("BEGIN IMMEDIATE");
  writing_ = true;
}

void SqliteFile::step(sqlite3_stmt* statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) refuse("write");
}

void SqliteFile::refuse(const char* what) {
  fail_at(path_, "cannot ", what, " this database: ", sqlite3_errmsg(database_));
}

}  // namespace vit::tools
