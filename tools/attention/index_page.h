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

/// Text as it must stand in HTML and in its quoted attributes.
std::string html_escaped(std::string_view text);
/// A file name as a relative URL.
std::string url_escaped(std::string_view name);

}  // namespace vit::tools
