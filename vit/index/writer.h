/// Writing index files.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "vit/index/file.h"

namespace vit::index {

/// Makes a file without rows, whole or not at all; a file of this name is replaced.
void create_index(const std::filesystem::path& path, const Format& format);

/// Appends rows to a file, in blocks. One writer at a time; readers may read meanwhile.
class IndexWriter {
 public:
  /// `index` is the file as it is. Cuts off what lies behind its last whole block.
  IndexWriter(const std::filesystem::path& path, const Index& index);
  ~IndexWriter();
  IndexWriter(const IndexWriter&) = delete;
  IndexWriter& operator=(const IndexWriter&) = delete;

  /// `vector` has the file's width; it is stored as it is, rounded to the file's type. Empty for a
  /// failed row. Returns the number of the row.
  size_t append(const Entry& entry, std::span<const float> vector);
  /// Marks a row of an earlier block, or of the index that was opened, as replaced.
  void replace(size_t row);
  /// Ends the block: what was appended is safe from the end of this program. Throws an Error if it
  /// cannot be written; the file is then as it was before the block.
  void flush();
  /// … and of the machine.
  void finish();

  size_t rows() const { return rows_ + entries_; }  ///< with those that are not yet flushed
  size_t pending_bytes() const { return numbers_.size() + table_.size(); }

 private:
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

  std::string path_;
  NumberType type_;
  size_t width_;
  int file_ = -1;
  std::uint64_t end_ = 0;  ///< of the last whole block
  size_t rows_ = 0;        ///< in whole blocks
  std::vector<std::byte> numbers_{};
  std::vector<std::byte> table_{};
  std::vector<std::uint64_t> replaced_{};
  size_t entries_ = 0;
};

/// Whether compact() would make the file much smaller or faster to read.
bool worth_compacting(const Index& index);

/// Rewrites the file without replaced rows and in large blocks. The new file replaces the old one
/// only when it is complete.
void compact(const std::filesystem::path& path, const Index& index);

}  // namespace vit::index
