/// ZIP archives, read in place. Written here rather than taken from libzip because a stored entry
/// must be a view of the mapped file: PyTorch and NumPy keep hundreds of megabytes in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weights/formats/mapped_file.h"
#include "weights/storage.h"

namespace vit::weights {

struct ZipEntry {
  std::string name;
  std::uint64_t size = 0;    ///< of the content
  std::uint64_t packed = 0;  ///< in the archive
  std::uint64_t header = 0;  ///< where its local header is
  std::uint32_t checksum = 0;
  bool deflated = false;
};

bool looks_like_zip(std::span<const std::byte> bytes);

class ZipArchive {
 public:
  /// Throws an Error if the directory is broken, encrypted, or promises far more than the file
  /// can reasonably hold.
  explicit ZipArchive(const std::filesystem::path& path);

  const std::string& path() const { return path_; }
  const std::vector<ZipEntry>& entries() const { return entries_; }
  /// Null if there is none.
  const ZipEntry* find(std::string_view name) const;

  /// A stored entry is seen in place, a deflated one is inflated and its checksum verified. The
  /// bytes live as long as storage() does.
  std::span<const std::byte> read(const ZipEntry& entry);
  const std::vector<Storage>& storage() const { return storage_; }

 private:
  std::span<const std::byte> packed_bytes(const ZipEntry& entry) const;

  std::string path_;
  std::shared_ptr<const MappedFile> file_;
  std::vector<ZipEntry> entries_;
  std::map<std::string, size_t, std::less<>> index_;
  std::vector<Storage> storage_;
};

}  // namespace vit::weights
