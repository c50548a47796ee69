#include "tools/search/output.h"

#include "tools/output/csv.h"
#include "tools/output/format.h"
#include "tools/output/unicode.h"

namespace vit::tools {

std::string search_text(const SearchResults& results) {
  std::string text;
  for (size_t q = 0; q < results.queries.size(); ++q) {
    if (results.queries.size() > 1)
      text += (q == 0 ? "" : "\n") + printable(results.queries[q].label) + "\n";
    for (const auto& hit : results.hits[q])
      text += found_line(results.index.entries[hit.row], hit.score) + "\n";
  }
  return text;
}

std::string search_csv(const SearchResults& results) {
  std::string text = "query,rank,score," + std::string(kEntryColumns) + "\n";
  for (size_t q = 0; q < results.queries.size(); ++q)
    for (size_t i = 0; i < results.hits[q].size(); ++i) {
      const auto& hit = results.hits[q][i];
      text += csv_field(results.queries[q].label) + "," +
              found_csv(i + 1, results.index.entries[hit.row], hit.score) + "\n";
    }
  return text;
}

Json search_json(const SearchResults& results) {
  Json all;
  all["index"] = results.path.string();
  all["queries"] = Json::array();
  for (size_t q = 0; q < results.queries.size(); ++q) {
    Json query;
    query["query"] = results.queries[q].label;
    query["results"] = Json::array();
    for (const auto& hit : results.hits[q])
      query["results"].push_back(found_json(results.index.entries[hit.row], "score", hit.score));
    all["queries"].push_back(std::move(query));
  }
  return all;
}

ContactSheet search_sheet(const SearchResults& results) {
  ContactSheet sheet;
  sheet.title = "Search in " + results.path.filename().string();
  sheet.note = format_count(index::live_rows(results.index.vectors).size()) +
               " images in the index; the number is the cosine similarity";
  for (size_t q = 0; q < results.queries.size(); ++q) {
    SheetGroup group;
    group.title = results.queries[q].label;
    group.note = format_count(results.hits[q].size()) + " most similar images";
    for (const auto& hit : results.hits[q])
      group.pictures.push_back(sheet_picture(results.index.entries[hit.row], hit.score));
    sheet.groups.push_back(std::move(group));
  }
  return sheet;
}

}  // namespace vit::tools
