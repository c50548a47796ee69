/// The members of a .tar file, found without unpacking it.
#pragma once

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
  /// Fewer than asked for at the end of the file.
  std::vector<std::byte> read(std::uint64_t offset, std::size_t count) const;

 private:
  std::string path_;
  int file_ = -1;
};

struct TarMember {
  std::string name;  ///< with its folders, as the archive has it
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// Calls `visit` with every regular file of the archive, in its order, until it returns false;
/// returns false then. Knows the formats ustar, GNU and pax. Throws an Error that says where the
/// archive is damaged or cut short; the members before were visited.
bool visit_tar(const TarFile& file, const std::function<bool(const TarMember&)>& visit);

}  // namespace vit::tools
