/// Images that have labels already.
#pragma once

#include <filesystem>
#include <vector>

#include "vit/index/file.h"

namespace vit::tools {

/// The live rows of the index that `path` names: a folder, everything below it; a .csv file, its
/// column "path"; any other file, one path a line. Relative paths are looked up in the current
/// folder. Throws an Error if none is in the index.
std::vector<size_t> labelled_rows(const index::Index& index, const std::filesystem::path& path);

}  // namespace vit::tools
