/// A download on its way: FILE.part, and FILE.part.etag that says what it is a part of.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "tools/pull/digest.h"
#include "tools/pull/hub.h"

namespace vit::tools {

/// Kept when the program ends, however it ends, as soon as it holds a byte; only finish() and
/// discard() take it away.
class PartFile {
 public:
  /// Goes on where an earlier download of the same content was cut. Throws an Error: another
  /// program is at it, not allowed, …
  PartFile(const std::filesystem::path& path, const RemoteFile& remote);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  std::uintmax_t size() const { return size_; }
  void add(std::span<const std::byte> bytes);
  /// From the first byte on again.
  void restart();
  void discard();
  /// Compares size and hash, and puts the file in its place; throws an Error and discards it when
  /// they differ.
  void finish();

 private:
  void take_up();
  void start_digest();

  std::filesystem::path path_;
  std::filesystem::path part_;
  std::filesystem::path note_;
  const RemoteFile& remote_;
  std::uintmax_t size_ = 0;
  std::optional<Digest> digest_;
  int file_ = -1;
  bool finished_ = false;
};

}  // namespace vit::tools
