/// The members of a .tar file, found without unpacking it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>

#include "tools/sources/readable_file.h"

namespace vit::tools {

struct TarMember {
  std::string name;  ///< with its folders, as the archive has it
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// The bytes of an archive: a file, or the decompressed content of one.
struct TarBytes {
  const std::string& path;  ///< messages start with it
  /// The largest number if it is unknown, because the content is compressed.
  std::uint64_t size = std::numeric_limits<std::uint64_t>::max();
  /// Fills the bytes from an offset on; returns how many there were.
  std::function<std::size_t(std::uint64_t offset, std::span<std::byte> bytes)> read;
};

/// Calls `visit` with every regular file of the archive, in its order, until it returns false or
/// `stop` is set; returns false then. Reads the formats ustar, GNU and pax. Every visited
/// member is within the file and at least one block after the one before, so that the time is
/// bounded by the size of the file. Throws an Error with the place if the archive is damaged or
/// truncated, after visiting the members before it.
bool visit_tar(const TarBytes& bytes, const std::function<bool(const TarMember&)>& visit,
               const std::atomic<bool>& stop);
bool visit_tar(const ReadableFile& file, const std::function<bool(const TarMember&)>& visit,
               const std::atomic<bool>& stop);

}  // namespace vit::tools
