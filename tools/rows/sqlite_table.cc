#include "tools/rows/sqlite_table.h"

#include <sqlite3.h>

#include <cstring>
#include <vector>

#include "tools/output/json.h"
#include "tools/output/json_depth.h"
#include "tools/output/path_text.h"
#include "tools/rows/sums.h"

namespace vit::tools {
namespace {

struct NamedColumn {
  const char* name;
  const char* type;
};

/// Without the id.
std::vector<NamedColumn> columns_of(const RowShape& shape) {
  std::vector<NamedColumn> columns{{"number", " INTEGER NOT NULL"}, {"path", ""},
                                   {"status", " TEXT NOT NULL"},    {"reason", " TEXT"},
                                   {"class", " INTEGER"},           {"label", " TEXT"},
                                   {"probability", " REAL"},        {"predictions", " TEXT"}};
  if (shape.stamps) columns.insert(columns.end(), {{"bytes", " INTEGER"}, {"modified", " TEXT"}});
  if (shape.facts)
    columns.insert(
        columns.end(),
        {{"taken", " TEXT"}, {"camera", " TEXT"}, {"latitude", " REAL"}, {"longitude", " REAL"}});
  return columns;
}

std::string names_of(const RowShape& shape) {
  std::string names;
  for (const auto& column : columns_of(shape)) names += std::string(", ") + column.name;
  return names.substr(2);
}

void bind_path(sqlite3_stmt* statement, int column, std::string_view path) {
  // A text of SQLite ends at a zero byte for many readers; file names have none.
  if (is_utf8(path))
    bind_text(statement, column, path);
  else
    sqlite3_bind_blob64(statement, column, path.data(), path.size(), SQLITE_TRANSIENT);
}

void bind_predictions(sqlite3_stmt* insert, const Row& row) {
  if (row.failed()) return;
  if (!row.predictions.empty()) {
    const Prediction& best = row.predictions.front();
    sqlite3_bind_int64(insert, kClass, static_cast<sqlite3_int64>(best.index));
    bind_text(insert, kLabel, as_utf8(best.label));
    sqlite3_bind_double(insert, kProbability, static_cast<double>(best.probability));
  }
  bind_text(insert, kPredictions, dump(to_json(row.predictions)));
}

std::string bytes_of(double number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

}  // namespace

std::string create_table_sql(const RowShape& shape) {
  std::string sql = "CREATE TABLE results (id INTEGER PRIMARY KEY";
  for (const auto& column : columns_of(shape)) sql += std::string(", ") + column.name + column.type;
  return sql + ")";
}

std::string select_sql(const RowShape& shape) {
  return "SELECT id, " + names_of(shape) + " FROM results WHERE id > ? ORDER BY id";
}

std::string insert_sql(const RowShape& shape) {
  std::string values = "?";
  for (size_t i = 1; i < columns_of(shape).size(); ++i) values += ", ?";
  return "INSERT INTO results (" + names_of(shape) + ") VALUES (" + values + ")";
}

void bind_row(sqlite3_stmt* insert, const RowShape& shape, const Row& row) {
  sqlite3_clear_bindings(insert);
  sqlite3_bind_int64(insert, kNumber, static_cast<sqlite3_int64>(row.input.number));
  bind_path(insert, kPath, row.input.path);
  bind_text(insert, kStatus, row.failed() ? "failed" : "ok");
  if (const std::string remark = row.remark(); !remark.empty())
    bind_text(insert, kReason, as_utf8(remark));
  bind_predictions(insert, row);
  int column = kPredictions;
  if (shape.stamps) {
    if (row.stamp.time != 0) {
      sqlite3_bind_int64(insert, column + 1, static_cast<sqlite3_int64>(row.stamp.bytes));
      bind_text(insert, column + 2, time_text(row.stamp.time));
    }
    column += 2;
  }
  if (!shape.facts) return;
  if (!row.facts.taken.empty()) bind_text(insert, column + 1, as_utf8(row.facts.taken));
  if (!row.facts.camera.empty()) bind_text(insert, column + 2, as_utf8(row.facts.camera));
  if (row.facts.latitude) sqlite3_bind_double(insert, column + 3, *row.facts.latitude);
  if (row.facts.longitude) sqlite3_bind_double(insert, column + 4, *row.facts.longitude);
}

void bind_stored(sqlite3_stmt* insert, sqlite3_stmt* row, std::uint64_t number) {
  sqlite3_bind_int64(insert, kNumber, static_cast<sqlite3_int64>(number));
  for (int column = kPath; column < sqlite3_column_count(row); ++column)
    sqlite3_bind_value(insert, column, sqlite3_column_value(row, column));
}

StoredRow read_row(sqlite3_stmt* row, const RowShape& shape) {
  StoredRow stored{static_cast<std::uint64_t>(sqlite3_column_int64(row, kNumber)),
                   text_of(row, kPath), text_of(row, kStatus) == "failed", text_of(row, kReason)};
  if (sqlite3_column_type(row, kPredictions) == SQLITE_TEXT)
    if (const std::string text = text_of(row, kPredictions); !nests_deep(text))
      stored.predictions = predictions_in(Json::parse(text, nullptr, false));
  int column = kPredictions + 1;
  if (shape.stamps) {
    if (const auto time = parse_time(text_of(row, column + 1)))
      stored.stamp = {static_cast<std::uint64_t>(sqlite3_column_int64(row, column)), *time};
    column += 2;
  }
  if (!shape.facts) return stored;
  const auto angle = [&](int at) -> std::optional<double> {
    if (sqlite3_column_type(row, at) == SQLITE_NULL) return std::nullopt;
    return sqlite3_column_double(row, at);
  };
  stored.facts = {text_of(row, column), text_of(row, column + 1), angle(column + 2),
                  angle(column + 3)};
  return stored;
}

std::uint32_t sum_of_row(sqlite3_stmt* row, std::uint32_t before) {
  for (int column = kId; column < sqlite3_column_count(row); ++column) {
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

void bind_text(sqlite3_stmt* statement, int column, std::string_view text) {
  sqlite3_bind_text64(statement, column, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

std::string text_of(sqlite3_stmt* statement, int column) {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  return bytes == nullptr ? "" : std::string(bytes, size);
}

}  // namespace vit::tools
