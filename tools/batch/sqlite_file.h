/// Rows in a table of an SQLite database.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "tools/batch/row.h"

struct sqlite3;
struct sqlite3_stmt;

namespace vit::tools {

/// Table "results": id, number, path, status, reason, class, label, probability, predictions. The
/// row with number 0 is the header. A path that is not UTF-8 is a BLOB.
class SqliteFile {
 public:
  explicit SqliteFile(const std::filesystem::path& path);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  std::optional<std::string> read_header();
  std::optional<StoredRow> next();
  void start(std::string_view header);
  void append(const Row& row);
  /// Commits what was appended.
  void flush();
  void finish();

  /// Appends the row that next() of `other` gave.
  void append_stored(SqliteFile& other);

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

  Statement prepare(const char* sql);
  void execute(const char* sql);
  void begin();
  void step(sqlite3_stmt* statement);
  [[noreturn]] void refuse(const char* what);

  std::string path_;
  sqlite3* database_ = nullptr;
  Statement reading_;
  Statement inserting_;
  bool writing_ = false;  ///< within a transaction
};

}  // namespace vit::tools
