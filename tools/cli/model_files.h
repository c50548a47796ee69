/// The files that a model's weights lie in.
#pragma once

#include <filesystem>
#include <vector>

namespace vit::tools {

/// From a folder or a weight file: one file, or the parts of a model that is cut into several, in
/// the order of their names.
std::vector<std::filesystem::path> weight_files(const std::filesystem::path& model);

}  // namespace vit::tools
