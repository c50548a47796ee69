/// Rows of numbers as a NumPy array, with a list of the rows beside it.
///
///   OUT.npy         float32, [rows, …]; the row of an input that failed is NaN
///   OUT.npy.jsonl   a record for each row, in the same order, with the CRC-32 of its numbers; the
///                   header is beside it in OUT.npy.jsonl.run.json
///
/// Numbers are synced before their records, so that every record has its numbers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "tools/rows/text_file.h"

namespace vit::tools {

std::filesystem::path sidecar_of(const std::filesystem::path& npy);

class NumpyFile {
 public:
  /// As TextFile().
  NumpyFile(const std::filesystem::path& path, const RowShape& shape, bool read_only = false);
  ~NumpyFile();
  NumpyFile(const NumpyFile&) = delete;
  NumpyFile& operator=(const NumpyFile&) = delete;

  std::optional<std::string> read_header();
  void check_damage() const { list_.check_damage(); }
  /// Throws an Error if numbers do not match their checksum.
  std::optional<StoredRow> next();
  /// Makes next() return such rows as failed ones instead.
  void take_damaged_as_failed() { damaged_fail_ = true; }
  void start(std::string_view header);
  void append(const Row& row);
  void append_stored(const NumpyFile& other, std::uint64_t number);
  void flush();
  void finish();

 private:
  size_t row_bytes() const { return shape_.numbers() * sizeof(float); }
  std::string read_row(std::uint64_t row) const;
  void flush_if_much();
  std::uint64_t offset_of(std::uint64_t row) const;
  void write_at(std::uint64_t offset, std::string_view bytes);
  /// The header of the array: its type, and `rows_` as its first extent.
  void write_opening();

  std::string path_;
  RowShape shape_;
  TextFile list_;
  int file_ = -1;
  bool damaged_fail_ = false;
  std::uint64_t rows_ = 0;     ///< read or written
  std::string pending_{};      ///< numbers appended, not yet written
  std::uint64_t waiting_ = 0;  ///< rows of them
};

}  // namespace vit::tools
