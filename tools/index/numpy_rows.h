/// The rows of a `vit embed` output, for an index.
#pragma once

#include <filesystem>

#include "tools/index/update.h"

namespace vit::tools {

/// Reads OUT.npy and its list OUT.npy.jsonl. Throws an Error: no list, damaged, or several vectors
/// for an image.
UpdateSource read_numpy_rows(const std::filesystem::path& npy);

}  // namespace vit::tools
