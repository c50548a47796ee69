/// Checks of output names, before any work is done.
#pragma once

#include <filesystem>
#include <vector>

namespace vit::tools {

/// Throws an Error if the folder of `path` does not exist.
void check_folder_of(const std::filesystem::path& path);

/// Throws a UsageError if an output is one of the inputs by whatever name, or a file in a folder
/// among them. What is not there is no input.
void check_outputs(const std::vector<std::filesystem::path>& outputs,
                   const std::vector<std::filesystem::path>& inputs);

}  // namespace vit::tools
