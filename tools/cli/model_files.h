/// The weight files of a model.
#pragma once

#include <filesystem>
#include <vector>

namespace vit::tools {

/// From a folder or a weight file: one file, or the shards of a sharded model, in the
/// order of their names.
std::vector<std::filesystem::path> weight_files(const std::filesystem::path& model);

}  // namespace vit::tools
