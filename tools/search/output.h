/// The results of a search as text, CSV, JSON and a contact sheet.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/indexed/report.h"
#include "tools/search/queries.h"
#include "vit/index/search.h"

namespace vit::tools {

struct SearchResults {
  const std::filesystem::path& path;  ///< of the index
  const index::Index& index;
  std::span<const Query> queries;
  const std::vector<std::vector<index::Hit>>& hits;  ///< of each query
};

std::string search_text(const SearchResults& results);
std::string search_csv(const SearchResults& results);
Json search_json(const SearchResults& results);
ContactSheet search_sheet(const SearchResults& results);

}  // namespace vit::tools
