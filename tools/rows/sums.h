/// Checksums of a file that only grows, in "FILE.sums" beside it.
///
/// One line for each block: its end (a byte offset), the rows of the file up to there, the CRC-32
/// of its bytes, and the CRC-32 of the line itself. A block is what was written at once. Its line
/// is written after it, so that a kill leaves at most one block without a line; bytes after the
/// last line are not checked. An incomplete line is ignored.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "vit/base/error.h"

namespace vit::tools {

/// Rows of an earlier run cannot be used; nothing was appended.
class DamagedRows : public Error {
 public:
  using Error::Error;
};

/// CRC-32 of `bytes`, continued from `before`.
std::uint32_t checksum(std::string_view bytes, std::uint32_t before = 0);
/// Eight hexadecimal digits, and back; none if they are not.
std::string checksum_text(std::uint32_t sum);
std::optional<std::uint32_t> parse_checksum(std::string_view text);

/// "rows 3 to 5 are not what was written". `before`: rows before the block; `upto`: with it.
std::string changed_rows_text(std::uint64_t before, std::uint64_t upto);

std::filesystem::path sums_of(const std::filesystem::path& file);

class BlockSums {
 public:
  explicit BlockSums(const std::filesystem::path& file);
  ~BlockSums();
  BlockSums(const BlockSums&) = delete;
  BlockSums& operator=(const BlockSums&) = delete;

  /// Processes the bytes of the file in order, from its beginning.
  void check(std::string_view bytes);
  /// Why the file does not match; empty: every whole block so far does.
  const std::string& damage() const { return damage_; }

  /// Prepares for appending: drops the blocks that end after the first `size` bytes of the file.
  /// `data` is the file, for the bytes that have no line yet. Throws an Error.
  void resume(int data, std::uint64_t size);
  /// Starts with an empty file.
  void start();
  /// Bytes that were appended to the file.
  void add(std::string_view bytes);
  /// Ends a block, `rows` of the file are up to here. Throws an Error.
  void mark(std::uint64_t rows);
  /// Syncs the lines to the disk. Throws an Error.
  void sync() const;

 private:
  struct Block {
    std::uint64_t end = 0;
    std::uint64_t rows = 0;
    std::uint32_t sum = 0;
  };
  static std::string line_of(const Block& block);
  static std::optional<Block> parse_line(const std::string& line);
  std::optional<Block> next_block();
  void open_to_write();
  void cut_lines(std::uint64_t length);

  std::filesystem::path file_, path_;
  std::ifstream lines_;         ///< to be read
  Block last_{};                ///< the block before the current one
  std::optional<Block> block_;  ///< to be compared with
  std::uint64_t at_ = 0;        ///< bytes of the file so far
  std::uint32_t sum_ = 0;       ///< of the current block
  std::string damage_;
  int out_ = -1;
  std::uint64_t length_ = 0;  ///< of all lines that were written or kept
};

}  // namespace vit::tools
