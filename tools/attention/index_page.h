/// The page that leads to the outputs of several images.
#pragma once

#include <string>
#include <vector>

namespace vit::tools {

struct IndexEntry {
  std::string image;   ///< the file that was looked at
  std::string output;  ///< the file made of it, as a name beside the page; empty: none
  std::string answer;  ///< "macaw  97.3%", or why there is no output
};

/// A self-contained page; pictures are shown, other files linked.
std::string index_page(const std::string& model, const std::vector<IndexEntry>& entries);

}  // namespace vit::tools
