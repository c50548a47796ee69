/// A file that appears whole or not at all. Everything that writes whole files writes them so.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace vit {

/// Collects bytes in a temporary file in the folder of `path`; commit() puts it in place. Without
/// commit() nothing is left, and an existing file stays as it is.
///
/// The temporary has no name where the file system allows that (O_TMPFILE), so a killed process
/// leaves nothing behind. Elsewhere its name is unpredictable and cannot be a link planted by
/// somebody else; remove_abandoned() removes those of killed processes.
///
/// A symbolic link at `path` stays: the file it points to is replaced. A link that belongs to
/// another user (and not to root) is refused.
class AtomicFile {
 public:
  enum class Temporary { kUnnamedWherePossible, kNamed };
  /// kNo: the file is whole after a kill, but may not be after a power failure. For thousands of
  /// files that can be made again.
  enum class Sync { kYes, kNo };

  /// Throws an Error: no such folder, not allowed, `path` is not a regular file.
  explicit AtomicFile(const std::filesystem::path& path,
                      Temporary temporary = Temporary::kUnnamedWherePossible);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Allocates disk space, so that a full disk is reported before the work.
  void reserve(std::size_t bytes);
  void write(std::span<const std::byte> bytes);
  /// Syncs the file, moves it over `path` with the permissions of the file that was there, and
  /// syncs the folder.
  void commit(Sync sync = Sync::kYes);

 private:
  void open_named();
  void keep_permissions() const;
  /// False: the name exists.
  bool link_as(const std::filesystem::path& name) const;
  void put_in_place();

  std::filesystem::path path_;       ///< as given, for messages
  std::filesystem::path target_;     ///< where links led to
  std::filesystem::path temporary_;  ///< empty: the temporary has no name
  int file_ = -1;
};

/// The file that `path` leads to through symbolic links of this user or of root; it need not exist.
/// Throws an Error for a link of another user: in a shared folder it could lead to any file.
std::filesystem::path follow_links(const std::filesystem::path& path);

/// Puts the name of a file on the disk: fsync of its folder. A new file that is synced itself can
/// otherwise be gone after a power failure.
void sync_folder_of(const std::filesystem::path& file);

/// Writes `bytes` as the whole content of `path`. Throws an Error that says why it cannot.
void write_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes,
                      AtomicFile::Sync sync = AtomicFile::Sync::kYes);

/// Removes temporary files of AtomicFile in `folder` whose process was killed. Files of running
/// processes and of other users stay.
void remove_abandoned(const std::filesystem::path& folder);

}  // namespace vit
