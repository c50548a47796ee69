#include "tools/train/named_classes.h"

#include <algorithm>
#include <fstream>

#include "tools/cli/class_names.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

bool is_wordnet_id(const std::string& label) {
  return !label.empty() && leading_wordnet_id(label) == label;
}

}  // namespace

NamedClasses read_named_classes(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) fail_at(path.string(), "cannot be opened");
  NamedClasses names;
  std::string line;
  for (size_t number = 1; std::getline(file, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    const size_t tab = line.find('\t');
    if (tab == 0 || tab == std::string::npos || tab + 1 == line.size())
      fail_at(path.string(), "line ", number, " is '", line,
              "', expected a class, a tab and its name");
    if (!names.emplace(line.substr(0, tab), line.substr(tab + 1)).second)
      fail_at(path.string(), "line ", number, " names class '", line.substr(0, tab), "' again");
  }
  if (file.bad()) fail_at(path.string(), "cannot be read");
  return names;
}

void rename_classes(const std::filesystem::path& path, data::Dataset& dataset) {
  const NamedClasses names = read_named_classes(path);
  if (std::ranges::all_of(dataset.labels, is_wordnet_id)) dataset.wordnet_ids = dataset.labels;
  size_t renamed = 0;
  std::map<std::string, std::string> taken;  // by which class
  for (std::string& label : dataset.labels) {
    const std::string before = label;
    if (const auto name = names.find(label); name != names.end()) {
      label = name->second;
      ++renamed;
    }
    const auto [other, free] = taken.emplace(label, before);
    if (!free)
      fail_at(path.string(), "classes '", other->second, "' and '", before, "' are both called '",
              label, "', expected names that differ");
  }
  if (renamed == 0)
    fail_at(path.string(), "names none of the ", dataset.labels.size(),
            " classes of the data, such as '", dataset.labels.front(), "'");
}

}  // namespace vit::tools
