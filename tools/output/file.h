/// Files that are written completely or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace vit::tools {

/// Writes the whole content of `path`, see vit/base/atomic_file.h: readers never see half a
/// file, and an old one stays until the new one is complete. Throws an Error with the reason.
void write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace vit::tools
