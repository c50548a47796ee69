/// Which files belong to a checkpoint.
#pragma once

#include <filesystem>

namespace vit::weights {

struct Location {
  std::filesystem::path weights;
  std::filesystem::path config;        ///< config.json or open_clip_config.json, empty: none
  std::filesystem::path preprocessor;  ///< preprocessor_config.json, empty: none
};

/// From a folder or a weight file. Throws an Error: nothing there, no weights in the folder, or
/// several and nothing to prefer one.
Location locate(const std::filesystem::path& path);

}  // namespace vit::weights
