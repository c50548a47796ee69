/// One image's attention as a page to explore: self-contained, no network.
#pragma once

#include <string>
#include <vector>

#include "tools/explorer/study.h"

namespace vit::tools {

/// What speaks for a class.
struct ClassRelevance {
  std::string label;
  std::vector<float> tokens;
};

struct ExplorerInput {
  const Classifier& classifier;
  const Study& study;
  /// For the first answers, in their order; may be shorter than those, or empty.
  std::vector<ClassRelevance> relevance;
};

std::string explorer_page(const ExplorerInput& input);

/// The maxima of the rows as float32, then for each weight a byte: 255 times the root of its part
/// of the maximum. No weight is off by more than a 255th of the maximum, and small ones by far
/// less: where a token keeps nearly all for itself, the rest still has its shades.
std::string packed_attention(const interpret::AttentionMaps& maps);

}  // namespace vit::tools
