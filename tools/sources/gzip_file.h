/// Random access to the decompressed content of a gzip file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "tools/sources/readable_file.h"

namespace vit::tools {

/// Several threads may read it. Decompression leaves marks every few megabytes, from which later
/// reads continue; a mark takes 32 kB, and there are about a thousand of them at most.
class GzipFile {
 public:
  /// `file` must outlive this.
  explicit GzipFile(const ReadableFile& file);
  ~GzipFile();
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;

  /// Fills `bytes` from `offset` on; returns how many there are: fewer at the end, and none if
  /// `stop` is set. Throws an Error if the file is damaged, truncated, or decompresses to more than
  /// 200 times its size.
  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes,
                   const std::atomic<bool>& stop) const;

 private:
  class Decoder;
  struct Mark;

  std::unique_ptr<Decoder> decoder_before(std::uint64_t offset) const;
  void keep(std::unique_ptr<Decoder> decoder) const;

  const ReadableFile& file_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const Mark>> marks_;  ///< by their places
  mutable std::vector<std::unique_ptr<Decoder>> idle_;
};

}  // namespace vit::tools
