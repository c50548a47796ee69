/// Files that are whole or not there.
#pragma once

#include <filesystem>
#include <string_view>

namespace vit::tools {

/// Writes the whole content of `path`, see vit/base/atomic_file.h: nobody ever sees half a file,
/// and an old one stays until the new one is complete. Throws an Error saying why it cannot.
void write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace vit::tools
