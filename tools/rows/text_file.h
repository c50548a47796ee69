/// Rows as lines of a file that only grows, so that a kill leaves whole rows and at most one
/// incomplete row.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "tools/rows/record.h"
#include "tools/rows/sums.h"

namespace vit::tools {

/// The reader of standard output has not read since a stop signal came.
class OutputStalled : public Error {
 public:
  OutputStalled() : Error("standard output: the rows are not being read") {}
};

class TextFile {
 public:
  /// Opens or creates. `read_only`: the file must exist and need not be writable; nothing can be
  /// appended. Throws an Error.
  TextFile(const std::filesystem::path& path, TextFormat format, const RowShape& shape,
           bool read_only = false);
  /// Standard output, where nothing can be read. Throws OutputStalled if `stop` is true and the
  /// reader does not read.
  TextFile(TextFormat format, const RowShape& shape, const std::atomic<bool>* stop = nullptr);
  ~TextFile();
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  /// The existing header: from the file beside it, or from the first record of a file of an earlier
  /// version; none: the file is new, or has no rows yet. A read-only CSV without a header gets one
  /// from its column names. Throws an Error if the file holds something else. Must be called first.
  std::optional<std::string> read_header();
  /// Throws DamagedRows if what was read with the header does not match its checksum.
  void check_damage() const;
  /// The next existing row. Throws an Error if one before the last is damaged, or if the file does
  /// not match its checksums.
  std::optional<StoredRow> next();
  /// Treats the last row from next(), and all after it, as incomplete.
  void forget_from_here();

  /// Empties the file and writes its header.
  void start(std::string_view header);
  /// `numbers_sum` is the checksum of numbers that are stored elsewhere.
  void append(const Row& row, std::optional<std::uint32_t> numbers_sum = {});
  /// Appends the last row from next() of `other`, with this number.
  void append_stored(const TextFile& other, std::uint64_t number);
  size_t pending_bytes() const { return pending_.size(); }
  /// Writes appended rows to the operating system. Throws an Error; existing rows stay whole.
  void flush();
  /// Cuts an incomplete last row off, flushes and syncs.
  void finish();

 private:
  void append_record(std::string_view record);
  bool read_record();
  void unread_record();
  /// The header of a file without a header record; `columns` is its first line, if it is complete.
  std::optional<std::string> header_beside(const std::optional<std::string>& columns);
  /// Whether the file, which has no complete record, starts like one of ours.
  bool is_begun() const;
  bool read_more();
  void go_to_end();
  void cut();
  void write_all(std::string_view bytes);
  /// Waits until standard output accepts bytes; returns how many it accepts without blocking.
  size_t wait_for_reader() const;

  std::string path_;
  TextFormat format_;
  RowShape shape_;
  int file_ = -1;
  bool read_only_ = false;
  bool pipe_ = false;                        ///< cannot be read or cut
  const std::atomic<bool>* stop_ = nullptr;  ///< ends the wait for the reader of the pipe
  bool at_end_ = false;      ///< all rows are read, and an incomplete one is cut off
  std::string buffer_;       ///< read, not yet taken
  std::size_t taken_ = 0;    ///< of the buffer
  std::uint64_t whole_ = 0;  ///< bytes of whole records so far
  std::uint64_t rows_ = 0;   ///< whole ones so far
  std::string record_;
  std::string pending_;            ///< appended, not yet written
  std::optional<BlockSums> sums_;  ///< of a file
  std::string header_damage_;      ///< empty: none
};

}  // namespace vit::tools
