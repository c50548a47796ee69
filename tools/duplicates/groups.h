/// Groups of images that are nearly the same, and which of each group to keep, with reasons.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "vit/index/file.h"
#include "vit/kernels/execution.h"

namespace vit::tools {

struct GroupMember {
  size_t row = 0;
  float score = 1.0f;  ///< cosine with the kept image
  std::string reason{};
};

struct ImageGroup {
  GroupMember kept{};
  std::vector<GroupMember> others{};  ///< the best first
};

struct Duplicates {
  std::vector<ImageGroup> groups{};  ///< those whose others have the most bytes first
  size_t images = 0;                 ///< compared
  size_t others = 0;                 ///< of all groups
  std::uint64_t bytes = 0;           ///< of the others
  size_t gone = 0, changed = 0;      ///< images that were not compared
};

/// Keeps the image with the most pixels, then the largest file, then the shortest path. Images
/// whose files are gone or changed since they were indexed are in no group: what the index says of
/// them may not be true any more.
Duplicates find_duplicates(const index::Index& index, float threshold, const Execution& execution);

}  // namespace vit::tools
