/// A file's bytes, mapped read-only: pages are read when touched and belong to the page cache.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace vit::weights {

class MappedFile {
 public:
  /// Throws an Error: no such file, a folder, not readable.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

std::shared_ptr<const MappedFile> map_file(const std::filesystem::path& path);

}  // namespace vit::weights
