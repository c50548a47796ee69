/// A file that several threads read at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace vit::tools {

/// An open file, for archives and for plain files.
class ReadableFile {
 public:
  /// Throws an Error if it cannot be opened.
  explicit ReadableFile(const std::filesystem::path& path);
  ~ReadableFile();
  ReadableFile(const ReadableFile&) = delete;
  ReadableFile& operator=(const ReadableFile&) = delete;

  const std::string& path() const { return path_; }
  /// Size in bytes when it was opened.
  std::uint64_t size() const { return size_; }
  /// Up to `count` bytes from `offset`: fewer at the end of the file.
  std::vector<std::byte> read(std::uint64_t offset, std::size_t count) const;
  /// Fills `bytes` from `offset` on; returns how many there are.
  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  std::string path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace vit::tools
