/// One image's attention as an interactive page: self-contained, no network.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/analysis/image_analysis.h"
#include "tools/analysis/relevance.h"

namespace vit::tools {

struct ExplorerInput {
  const Classifier& classifier;
  const ImageAnalysis& analysis;
  const std::string& model;  ///< its name
  std::span<const Prediction> answers;
  /// For the first answers, in their order; may be shorter than those, or empty.
  std::vector<ClassRelevance> relevance;
  bool compare = false;  ///< their maps are also shown side by side; always where classes are words
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
