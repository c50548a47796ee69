/// Files that are written completely or not at all.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "vit/base/atomic_file.h"

namespace vit::tools {

/// Writes the whole content of `path`, see vit/base/atomic_file.h: readers never see half a
/// file, and an old one stays until the new one is complete. Throws an Error with the reason.
inline void write_file(const std::filesystem::path& path, std::string_view bytes) {
  write_atomically(path, std::as_bytes(std::span(bytes)));
}

}  // namespace vit::tools
