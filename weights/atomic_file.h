/// A file that appears whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace vit::weights {

/// Writes beside `path`; commit() puts it in place. Without it, nothing is left.
class AtomicFile {
 public:
  /// Throws an Error: no such folder, not allowed, `path` is not a regular file.
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Claims the room on the disk, so that a full one is known before the work.
  void reserve(std::size_t bytes);
  void write(std::span<const std::byte> bytes);
  /// Synced, then renamed over `path`.
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int file_ = -1;
};

}  // namespace vit::weights
