/// Rows in a table of an SQLite database.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "tools/rows/row.h"

struct sqlite3;
struct sqlite3_stmt;

namespace vit::tools {

/// Table "results": id, number, path, status, reason, class, label, probability, predictions, and
/// by the shape bytes, modified, taken, camera, latitude, longitude. A path that is not UTF-8 is a
/// BLOB.
///
/// Table "run": the header and its CRC-32. In a file of an earlier version the header is the row
/// with number 0.
///
/// Table "sums": for each transaction the id of its last row and the CRC-32 of its rows.
class SqliteFile {
 public:
  /// Does not open the database yet.
  SqliteFile(const std::filesystem::path& path, const RowShape& shape, bool read_only = false);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  /// Reads the database without changing it; if it is a file of results, it is then opened for
  /// writing unless it is read-only.
  std::optional<std::string> read_header();
  /// Throws DamagedRows if the header does not match its checksum. No row can be read afterwards.
  void check_damage() { next(); }
  /// Throws an Error if the database is damaged or its rows do not match their checksums.
  std::optional<StoredRow> next();
  /// A new database; the old one is removed.
  void start(std::string_view header);
  void append(const Row& row);
  /// Commits what was appended.
  void flush();
  void finish();

  /// Checkpoints the log of a database into its file, as far as its readers allow.
  static void settle(const std::filesystem::path& path);

  /// Appends the last row from next() of `other`, with this number.
  void append_stored(SqliteFile& other, std::uint64_t number);

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

  void open(int flags);
  void open_to_write();
  void open_to_look();
  void close();
  std::optional<std::string> look();
  void quick_check();
  /// Empty, or the problem with the length of the file.
  std::string cut_short();
  void read_first_sum();
  void read_next_sum();
  /// Compares the checksums at the end of a block. `id`: of the row just read; none after the last.
  void check_row(std::optional<std::int64_t> id);
  /// The checksum of the rows of this transaction.
  void insert_sum();
  Statement prepare(const std::string& sql);
  void execute(const std::string& sql);
  /// Ready for its parameters, within a transaction.
  sqlite3_stmt* insertion();
  void begin();
  void step(sqlite3_stmt* statement);
  [[noreturn]] void refuse(const char* what);

  std::string path_;
  RowShape wanted_;  ///< of a new table
  RowShape shape_;   ///< of the table
  bool read_only_;
  bool header_intact_ = true;
  sqlite3* database_ = nullptr;
  Statement reading_;
  Statement inserting_;
  Statement sums_;
  bool writing_ = false;           ///< within a transaction
  std::int64_t block_end_ = 0;     ///< the id where the current block ends, 0: there are no more
  std::uint32_t block_sum_ = 0;    ///< as it was written
  std::uint32_t sum_ = 0;          ///< as it is read
  std::uint64_t rows_ = 0;         ///< read
  std::uint64_t block_start_ = 0;  ///< rows before the block
};

}  // namespace vit::tools
