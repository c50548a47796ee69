/// The table of rows in an SQLite database: its columns, and a row in them.
#pragma once

#include <cstdint>
#include <string>

#include "tools/rows/row.h"

struct sqlite3_stmt;

namespace vit::tools {

/// The columns that every table has; others follow them.
enum Column { kId, kNumber, kPath, kStatus, kReason, kClass, kLabel, kProbability, kPredictions };

std::string create_table_sql(const RowShape& shape);
/// All columns of the rows after an id, in order.
std::string select_sql(const RowShape& shape);
/// All columns except the id.
std::string insert_sql(const RowShape& shape);

/// The parameters of insert_sql().
void bind_row(sqlite3_stmt* insert, const RowShape& shape, const Row& row);
/// The same from a row of select_sql(), with another number.
void bind_stored(sqlite3_stmt* insert, sqlite3_stmt* row, std::uint64_t number);
/// The current row of select_sql().
StoredRow read_row(sqlite3_stmt* row, const RowShape& shape);

/// Checksum of the row of select_sql(), continued from `before`.
std::uint32_t sum_of_row(sqlite3_stmt* row, std::uint32_t before);

void bind_text(sqlite3_stmt* statement, int column, std::string_view text);
std::string text_of(sqlite3_stmt* statement, int column);

}  // namespace vit::tools
