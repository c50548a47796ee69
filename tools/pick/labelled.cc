#include "tools/pick/labelled.h"

#include <algorithm>
#include <fstream>
#include <unordered_set>

#include "tools/output/csv.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

std::string absolute_path(const fs::path& path) {
  return fs::absolute(path).lexically_normal().string();
}

std::unordered_set<std::string> paths_in_table(const fs::path& path) {
  CsvReader reader(path.string());
  const auto titles = reader.next();
  const auto found = titles ? std::ranges::find(*titles, "path") : decltype(titles->begin()){};
  if (!titles || found == titles->end())
    fail_at(path.string(), "has no column 'path', expected one with the labelled images");
  const auto column = static_cast<size_t>(found - titles->begin());
  std::unordered_set<std::string> paths;
  while (const auto record = reader.next())
    if (column < record->size() && !(*record)[column].empty())
      paths.insert(absolute_path((*record)[column]));
  return paths;
}

std::unordered_set<std::string> paths_in_list(const fs::path& path) {
  std::ifstream file(path);
  if (!file) fail_at(path.string(), "cannot be opened");
  std::unordered_set<std::string> paths;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) paths.insert(absolute_path(line));
  }
  return paths;
}

}  // namespace

std::vector<size_t> labelled_rows(const index::Index& index, const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) fail_at(path.string(), "no such file or folder");
  const bool folder = fs::is_directory(path, ignored);
  std::string below = folder ? absolute_path(path) : "";
  if (folder && !below.ends_with('/')) below += '/';
  std::unordered_set<std::string> paths;
  if (!folder) paths = path.extension() == ".csv" ? paths_in_table(path) : paths_in_list(path);
  std::vector<size_t> rows;
  for (const size_t row : index::live_rows(index.vectors)) {
    const std::string name(index.entries[row].path);
    if (folder ? name.starts_with(below) : paths.contains(name)) rows.push_back(row);
  }
  if (rows.empty())
    fail_at(path.string(), "names no image of the index; relative names are looked up in this ",
            "folder");
  return rows;
}

}  // namespace vit::tools
