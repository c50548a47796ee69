/// An unfinished download: FILE.part, and its version in FILE.part.etag.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "tools/output/digest.h"
#include "tools/pull/hub.h"

namespace vit::tools {

/// Kept when the program ends if it has at least one byte; only finish() and discard() remove it.
class PartFile {
 public:
  /// Resumes an earlier download of the same content. Throws an Error if another program is
  /// downloading it, or if the file cannot be written.
  PartFile(const std::filesystem::path& path, const RemoteFile& remote);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  std::uintmax_t size() const { return size_; }
  void add(std::span<const std::byte> bytes);
  /// Starts again from the first byte.
  void restart();
  void discard();
  /// The size, where it was not known; throws an Error if it is more than the file may have.
  void expect(std::uintmax_t size);
  bool has_expected_size() const { return remote_.size.has_value(); }
  /// Whether it may be fetched without a known size: text files have a limit.
  bool is_small() const { return limit_.has_value(); }
  /// Compares size and hash, and moves the file to its place; throws an Error and discards it if
  /// they differ. Returns the hash that was compared, "sha256" or "git sha1"; empty: the server
  /// gave none.
  std::string finish();

 private:
  void open_locked();
  void take_up();
  void start_digest();
  void read_into_digest(std::uintmax_t bytes);
  void check_limit(std::uintmax_t size) const;

  std::filesystem::path path_;
  std::filesystem::path part_;
  std::filesystem::path note_;
  RemoteFile remote_;
  std::optional<std::uintmax_t> limit_;  ///< unset: no limit
  std::uintmax_t size_ = 0;
  std::optional<Digest> digest_;
  int file_ = -1;
  bool finished_ = false;
};

}  // namespace vit::tools
