/// The members of a .tar file, found without unpacking it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace vit::tools {

/// An open file that may be read from any thread.
class TarFile {
 public:
  /// Throws an Error if it cannot be opened.
  explicit TarFile(const std::filesystem::path& path);
  ~TarFile();
  TarFile(const TarFile&) = delete;
  TarFile& operator=(const TarFile&) = delete;

  const std::string& path() const { return path_; }
  /// Bytes, when it was opened.
  std::uint64_t size() const { return size_; }
  /// Fewer than asked for at the end of the file.
  std::vector<std::byte> read(std::uint64_t offset, std::size_t count) const;

 private:
  std::string path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
};

struct TarMember {
  std::string name;  ///< with its folders, as the archive has it
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// Calls `visit` with every regular file of the archive, in its order, until it returns false or
/// `stop` is set; returns false then. Knows the formats ustar, GNU and pax. A member that is
/// visited lies within the file, and each is at least one block behind the one before, so the time
/// is bounded by the size of the file. Throws an Error that says where the archive is damaged or
/// cut short; the members before were visited.
bool visit_tar(const TarFile& file, const std::function<bool(const TarMember&)>& visit,
               const std::atomic<bool>& stop);

}  // namespace vit::tools
