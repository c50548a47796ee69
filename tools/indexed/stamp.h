/// Whether the images of an index have changed.
#pragma once

#include "tools/inputs/stamp.h"
#include "vit/index/file.h"

namespace vit::tools {

inline Freshness freshness_of(const index::Entry& entry) {
  return freshness_of(std::string(entry.path), Stamp{entry.bytes, entry.time});
}

}  // namespace vit::tools
