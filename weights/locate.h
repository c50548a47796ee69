/// Which files belong to a checkpoint.
#pragma once

#include <array>
#include <filesystem>
#include <string_view>

namespace vit::weights {

inline constexpr const char* kConfigName = "config.json";
inline constexpr const char* kOpenClipConfigName = "open_clip_config.json";
inline constexpr const char* kPreprocessorName = "preprocessor_config.json";
inline constexpr const char* kShardIndexName = "model.safetensors.index.json";

/// Names of the weights in a model's folder and in its repository on the hub, best first.
inline constexpr std::array kWeightNames{"model.safetensors", kShardIndexName, "pytorch_model.bin",
                                         "open_clip_model.safetensors",
                                         "open_clip_pytorch_model.bin"};
/// How those of OpenCLIP begin.
inline constexpr std::string_view kOpenClipFiles = "open_clip";

struct Location {
  std::filesystem::path weights;
  std::filesystem::path config;        ///< config.json or open_clip_config.json, empty: none
  std::filesystem::path preprocessor;  ///< preprocessor_config.json, empty: none
};

/// From a folder or a weight file. Throws an Error: nothing there, no weights in the folder, or
/// several and nothing to prefer one.
Location locate(const std::filesystem::path& path);

}  // namespace vit::weights
