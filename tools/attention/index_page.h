/// The index page of the outputs of several images.
#pragma once

#include <string>
#include <vector>

namespace vit::tools {

struct IndexEntry {
  std::string image;   ///< the input file
  std::string output;  ///< its output, in the folder of the page; empty: none
  std::string answer;  ///< "macaw  97.3 %", or why there is no output
};

/// A self-contained page; pictures are shown, other files linked.
std::string index_page(const std::string& model, const std::vector<IndexEntry>& entries);

}  // namespace vit::tools
