/// Files that are whole or not there.
#pragma once

#include <filesystem>
#include <string_view>

namespace vit::tools {

/// Writes beside the place and renames, so that nobody ever sees half a file and an old one stays
/// until the new one is complete. Throws an Error saying why it cannot.
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// For before the work whose result write_file() will keep: throws an Error if its folder is not
/// there.
void check_folder_of(const std::filesystem::path& path);

}  // namespace vit::tools
