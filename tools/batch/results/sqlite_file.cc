#include "tools/batch/results/sqlite_file.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "tools/batch/results/record.h"
#include "tools/batch/results/sums.h"
#include "tools/output/json.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

constexpr int kPatience = 10'000;  // ms to wait for readers

constexpr const char* kCreate =
    "CREATE TABLE results (id INTEGER PRIMARY KEY, number INTEGER NOT NULL, path, "
    "status TEXT NOT NULL, reason TEXT, class INTEGER, label TEXT, probability REAL, "
    "predictions TEXT)";
constexpr const char* kCreateSums =
    "CREATE TABLE IF NOT EXISTS sums (last INTEGER PRIMARY KEY, crc32 INTEGER NOT NULL)";
constexpr const char* kSelect =  // after an id
    "SELECT id, number, path, status, reason, class, label, probability, predictions FROM results "
    "WHERE id > ? ORDER BY id";
enum Column { kId, kNumber, kPath, kStatus, kReason, kClass, kLabel, kProbability, kPredictions };
constexpr const char* kInsert =
    "INSERT INTO results (number, path, status, reason, class, label, probability, predictions) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

void bind_text(sqlite3_stmt* statement, int column, std::string_view text) {
  sqlite3_bind_text64(statement, column, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void bind_path(sqlite3_stmt* statement, int column, std::string_view path) {
  // A text of SQLite ends at a zero byte for many readers; file names have none.
  if (is_utf8(path))
    bind_text(statement, column, path);
  else
    sqlite3_bind_blob64(statement, column, path.data(), path.size(), SQLITE_TRANSIENT);
}

std::string text_of(sqlite3_stmt* statement, int column) {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  return bytes == nullptr ? "" : std::string(bytes, size);
}

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

std::string bytes_of(double number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

/// Checksum of the row of kSelect, continued from `before`.
std::uint32_t sum_of_row(sqlite3_stmt* row, std::uint32_t before) {
  for (int column = kId; column <= kPredictions; ++column) {
    const int type = sqlite3_column_type(row, column);
    std::string text;
    if (type == SQLITE_INTEGER)
      text = std::to_string(sqlite3_column_int64(row, column));
    else if (type == SQLITE_FLOAT)
      text = bytes_of(sqlite3_column_double(row, column));
    else if (type != SQLITE_NULL)
      text = text_of(row, column);
    const std::string front = std::to_string(type) + ' ' + std::to_string(text.size()) + ' ';
    before = checksum(text, checksum(front, before));
  }
  return before;
}

}  // namespace

void SqliteFile::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

SqliteFile::SqliteFile(const std::filesystem::path& path, bool read_only)
    : path_(path.string()), read_only_(read_only) {}

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
    fail(path_, ": cannot open this database: ", reason);
  }
  sqlite3_busy_timeout(database_, kPatience);
}

void SqliteFile::open_to_write() {
  open(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  execute("PRAGMA journal_mode = WAL");
  execute("PRAGMA synchronous = NORMAL");
}

void SqliteFile::settle(const std::filesystem::path& path) {
  SqliteFile file(path);
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
  const auto tables =
      prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name != 'sums'");
  const int found = sqlite3_step(tables.get());
  if (found == SQLITE_DONE) return std::nullopt;
  if (found != SQLITE_ROW) refuse("read");
  const std::string name = text_of(tables.get(), 0);
  if (name == "results" && sqlite3_step(tables.get()) == SQLITE_DONE) {
    const auto header = prepare(
        "SELECT reason FROM results WHERE number = 0 AND status = 'header' ORDER BY id LIMIT 1");
    const int result = sqlite3_step(header.get());
    if (result == SQLITE_ROW) return text_of(header.get(), 0);
    if (result != SQLITE_DONE) refuse("read");
  }
  fail(path_, ": exists and is not a file of results by vit; give another name, or remove it");
}

void SqliteFile::quick_check() {
  std::string found = cut_short();
  if (found.empty()) {
    const auto check = prepare("PRAGMA quick_check(1)");
    const bool answered = sqlite3_step(check.get()) == SQLITE_ROW;
    found = answered ? text_of(check.get(), 0) : sqlite3_errmsg(database_);
  }
  if (found == "ok") return;
  throw DamagedRows(path_ + ": this database is damaged (" +
                    found.substr(found.find_last_of('\n') + 1) +
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
    read_first_sum();
    reading_ = prepare(kSelect);
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
    StoredRow stored{static_cast<std::uint64_t>(sqlite3_column_int64(row, kNumber)),
                     text_of(row, kPath), text_of(row, kStatus) == "failed"};
    if (sqlite3_column_type(row, kClass) == SQLITE_INTEGER)
      stored.best_class = static_cast<std::size_t>(sqlite3_column_int64(row, kClass));
    return stored;
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
    throw DamagedRows(
        path_ + ": " + changed_rows_text(block_start_, std::max(rows_, block_start_ + !header)) +
        ", by the checksums in the table \"sums\"; if the change was made on purpose, remove them "
        "(sqlite3 " +
        path_ + " 'DROP TABLE sums') to accept the file; otherwise restore a copy of " +
        "it, or start again with --restart");
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
  execute(kCreate);
  execute(kCreateSums);
  const auto insert =
      prepare("INSERT INTO results (number, status, reason) VALUES (0, 'header', ?)");
  bind_text(insert.get(), 1, header);
  step(insert.get());
  flush();
}

void SqliteFile::append(const Row& row) {
  begin();
  if (!inserting_) inserting_ = prepare(kInsert);
  sqlite3_stmt* insert = inserting_.get();
  sqlite3_reset(insert);
  sqlite3_clear_bindings(insert);
  sqlite3_bind_int64(insert, 1, static_cast<sqlite3_int64>(row.input.number));
  bind_path(insert, 2, row.input.path);
  bind_text(insert, 3, row.failed() ? "failed" : "ok");
  if (const std::string remark = row.remark(); !remark.empty())
    bind_text(insert, 4, as_utf8(remark));
  if (!row.failed()) {
    if (!row.predictions.empty()) {
      const Prediction& best = row.predictions.front();
      sqlite3_bind_int64(insert, 5, static_cast<sqlite3_int64>(best.index));
      bind_text(insert, 6, as_utf8(best.label));
      sqlite3_bind_double(insert, 7, static_cast<double>(best.probability));
    }
    bind_text(insert, 8, dump(to_json(row.predictions)));
  }
  step(insert);
}

void SqliteFile::append_stored(SqliteFile& other, std::uint64_t number) {
  begin();
  if (!inserting_) inserting_ = prepare(kInsert);
  sqlite3_reset(inserting_.get());
  sqlite3_bind_int64(inserting_.get(), kNumber, static_cast<sqlite3_int64>(number));
  for (int column = kPath; column <= kPredictions; ++column)
    sqlite3_bind_value(inserting_.get(), column,
                       sqlite3_column_value(other.reading_.get(), column));
  step(inserting_.get());
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
  const auto rows = prepare(kSelect);
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

SqliteFile::Statement SqliteFile::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_, sql, -1, &statement, nullptr) != SQLITE_OK) refuse("open");
  return Statement(statement);
}

void SqliteFile::execute(const char* sql) {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) refuse("write");
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
  fail(path_, ": cannot ", what, " this database: ", sqlite3_errmsg(database_));
}

}  // namespace vit::tools
