#include "tools/batch/sqlite_file.h"

#include <sqlite3.h>

#include "tools/batch/record.h"
#include "tools/output/json.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

constexpr int kPatience = 10'000;  // ms for a reader to let go

constexpr const char* kCreate =
    "CREATE TABLE results (id INTEGER PRIMARY KEY, number INTEGER NOT NULL, path, "
    "status TEXT NOT NULL, reason TEXT, class INTEGER, label TEXT, probability REAL, "
    "predictions TEXT)";
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

}  // namespace

void SqliteFile::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

SqliteFile::SqliteFile(const std::filesystem::path& path) : path_(path.string()) {
  if (sqlite3_open(path.c_str(), &database_) != SQLITE_OK) {
    const std::string reason = sqlite3_errmsg(database_);
    sqlite3_close(database_);
    fail(path_, ": cannot open this database: ", reason);
  }
  sqlite3_busy_timeout(database_, kPatience);
  try {
    execute("PRAGMA journal_mode = WAL");
    execute("PRAGMA synchronous = NORMAL");
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
}

SqliteFile::~SqliteFile() {
  reading_.reset();
  inserting_.reset();
  if (writing_) sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
  sqlite3_close(database_);
}

std::optional<std::string> SqliteFile::read_header() {
  const auto tables = prepare("SELECT name FROM sqlite_master WHERE type = 'table'");
  if (sqlite3_step(tables.get()) != SQLITE_ROW) return std::nullopt;
  const std::string name = text_of(tables.get(), 0);
  if (name == "results" && sqlite3_step(tables.get()) == SQLITE_DONE) {
    const auto header = prepare(
        "SELECT reason FROM results WHERE number = 0 AND status = 'header' ORDER BY id LIMIT 1");
    if (sqlite3_step(header.get()) == SQLITE_ROW) return text_of(header.get(), 0);
  }
  fail(path_, ": exists and is not a file of results by vit; give another name, or remove it");
}

std::optional<StoredRow> SqliteFile::next() {
  if (!reading_)
    reading_ = prepare(
        "SELECT number, path, status, reason, class, label, probability, predictions FROM results "
        "WHERE number > 0 ORDER BY id");
  const int result = sqlite3_step(reading_.get());
  if (result == SQLITE_ROW)
    return StoredRow{static_cast<std::uint64_t>(sqlite3_column_int64(reading_.get(), 0)),
                     text_of(reading_.get(), 1), text_of(reading_.get(), 2) == "failed"};
  if (result != SQLITE_DONE) refuse("read");
  sqlite3_reset(reading_.get());  // or the database could not be checkpointed
  return std::nullopt;
}

void SqliteFile::start(std::string_view header) {
  reading_.reset();
  inserting_.reset();
  begin();
  execute("DROP TABLE IF EXISTS results");
  execute(kCreate);
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
  if (row.failed()) {
    bind_text(insert, 4, as_utf8(row.reason));
  } else {
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

void SqliteFile::append_stored(SqliteFile& other) {
  begin();
  if (!inserting_) inserting_ = prepare(kInsert);
  sqlite3_reset(inserting_.get());
  for (int column = 0; column < 8; ++column)
    sqlite3_bind_value(inserting_.get(), column + 1,
                       sqlite3_column_value(other.reading_.get(), column));
  step(inserting_.get());
}

void SqliteFile::flush() {
  if (!writing_) return;
  if (inserting_) sqlite3_reset(inserting_.get());
  execute("COMMIT");
  writing_ = false;
}

void SqliteFile::finish() {
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
