/// The two pictures of the ViT paper that need no image: positions and patch filters.
#pragma once

#include <string>

#include "tools/attention/settings.h"

namespace vit::tools {

/// A map per patch: how similar its position is to all others. The bytes of the output's kind.
std::string positions_bytes(const Classifier& classifier, const AttentionSettings& settings);

/// The first principal components of the patch projection, as small RGB pictures.
std::string filters_bytes(const Classifier& classifier, const AttentionSettings& settings);

}  // namespace vit::tools
