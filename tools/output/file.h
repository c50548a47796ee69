/// Files that are whole or not there.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace vit::tools {

/// Writes the whole content of `path`, see vit/base/atomic_file.h: nobody ever sees half a file,
/// and an old one stays until the new one is complete. Throws an Error saying why it cannot.
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// For before the work whose result write_file() will keep: throws an Error if its folder is not
/// there.
void check_folder_of(const std::filesystem::path& path);

/// Throws a UsageError if an output is one of the inputs by whatever name, or a file in a folder
/// among them. What is not there is no input.
void check_outputs(const std::vector<std::filesystem::path>& outputs,
                   const std::vector<std::filesystem::path>& inputs);

}  // namespace vit::tools
