/// Brings an index file up to date with the images that are there now.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "patch/image/image.h"
#include "tools/indexed/features.h"
#include "tools/inputs/inputs.h"
#include "vit/index/file.h"

namespace vit::tools {

struct UpdateSettings {
  std::filesystem::path output;
  std::optional<bool> half{};  ///< none: as the file is, 32 bits for a new one
  bool restart = false;
  bool retry_failed = false;
  bool quiet = false;
};

/// An image and, where it was computed before, its vector.
struct IndexItem {
  Input input{};
  std::vector<float> vector{};  ///< of a `vit embed` row
  std::string reason{};         ///< why that row has none
};

/// Where rows come from.
struct UpdateSource {
  Json description{};
  size_t width = 0;
  const FeatureMaker* maker = nullptr;          ///< none: items have vectors
  const ModelSettings* model = nullptr;         ///< of the maker
  std::vector<IndexItem> items{};               ///< their paths are absolute, each once
  std::vector<std::filesystem::path> covers{};  ///< rows below them that are not listed may be gone
};

/// Computes what is new or changed by size, time and content, and appends it in blocks; a killed
/// run keeps all blocks but the last. The exit status: 0 done, 1 no image has a vector, 128 + N
/// when signal N came first.
int update_index(const UpdateSettings& settings, const UpdateSource& source);

}  // namespace vit::tools
