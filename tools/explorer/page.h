/// One image's attention as an interactive page: self-contained, no network.
#pragma once

#include <string>
#include <vector>

#include "tools/explorer/image_analysis.h"

namespace vit::tools {

/// The relevance of a class.
struct ClassRelevance {
  std::string label;
  std::vector<float> tokens;
};

struct ExplorerInput {
  const Classifier& classifier;
  const ImageAnalysis& analysis;
  /// For the first answers, in their order; may be shorter than those, or empty.
  std::vector<ClassRelevance> relevance;
  bool compare = false;  ///< their maps are also shown side by side; always where classes are words
  std::string model = {};  ///< its name; empty: that of its architecture
};

std::string explorer_page(const ExplorerInput& input);

/// The data of the page: {"facts": ..., "attention": plain_attention() in base64, "photo": a JPEG
/// in base64}.
std::string explorer_json(const ExplorerInput& input);

/// The text between the page's <style> tags and between its <script> tags: the same on every page.
struct InlineParts {
  std::string style;
  std::string script;
};
InlineParts explorer_inline_parts();

}  // namespace vit::tools
