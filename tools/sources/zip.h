/// The members of a .zip file, found without unpacking it. Unlike the weights' reader of ZIP
/// archives it holds no list of them, and a member that cannot be read does not end the listing.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "tools/sources/readable_file.h"

namespace vit::tools {

struct ZipMember {
  std::string name;  ///< with its folders, as the archive has it
  std::uint64_t header = 0;
  std::uint64_t packed = 0;  ///< bytes in the archive
  std::uint64_t size = 0;    ///< bytes of the content
  std::uint32_t checksum = 0;
  bool deflated = false;
  std::string problem{};  ///< why it cannot be read; empty: it can
};

/// Calls `visit` with every regular file that the archive's directory lists, in its order, until it
/// returns false or `stop` is set; returns false then. Throws an Error with the place if the
/// archive is damaged or truncated.
bool visit_zip(const ReadableFile& file, const std::function<bool(const ZipMember&)>& visit,
               const std::atomic<bool>& stop);

/// Reads the content in order, or from the start again; one thread at a time. `file` must outlive
/// it. Throws an Error that starts with `name` if the content is damaged.
std::function<std::size_t(std::uint64_t at, std::span<std::byte> bytes)> zip_reader(
    const ReadableFile& file, const ZipMember& member, const std::string& name);

}  // namespace vit::tools
