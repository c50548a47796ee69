#include "tools/cli/group_file.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tools/cli/class_names.h"
#include "tools/cli/usage_error.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

constexpr size_t kMostBytes = size_t{16} << 20;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// Removes one item from the front of `text`; commas within quotes are part of it.
GroupItem take_item(std::string_view& text, const std::string& where) {
  GroupItem item{.text = {}, .where = where};
  text = trimmed(text);
  if (text.starts_with('!')) {
    item.removed = true;
    text = trimmed(text.substr(1));
  }
  size_t end = std::min(text.find(','), text.size());
  if (text.starts_with('"')) {
    const size_t quote = text.find('"', 1);
    if (quote == text.npos) fail_at(where, "a quote is not closed: ", text);
    item.quoted = true;
    item.text = text.substr(1, quote - 1);
    end = std::min(text.find(',', quote), text.size());
    const auto rest = trimmed(text.substr(quote + 1, end - quote - 1));
    if (!rest.empty()) fail_at(where, "'", rest, "' follows a quote, expected a comma");
  } else {
    item.text = trimmed(text.substr(0, end));
  }
  if (item.text.empty())
    fail_at(where, "nothing between two commas or at the end, expected a label, a pattern, a ",
            "WordNet id or a name of WordNet");
  text.remove_prefix(std::min(end + 1, text.size()));
  return item;
}

void read_line(std::string_view line, const std::string& where, std::vector<GroupSpec>& groups) {
  const size_t equals = line.find('=');
  const std::string name(trimmed(line.substr(0, equals)));
  if (equals == line.npos || name.empty())
    fail_at(where, "'", line, "', expected GROUP = labels, patterns or WordNet ids, such as ",
            "dogs = n02084071");
  auto group = std::ranges::find(groups, name, &GroupSpec::name);
  if (group == groups.end()) group = groups.insert(groups.end(), {name, {}});
  std::string_view items = trimmed(line.substr(equals + 1));
  if (items.empty())
    fail_at(where, "group '", name, "' is empty, expected labels, patterns or WordNet ids");
  while (!items.empty()) group->items.push_back(take_item(items, where));
}

/// The file may be a pipe, whose size is not known.
std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  constexpr size_t kPart = size_t{1} << 16;
  std::string content;
  while (file && content.size() <= kMostBytes) {
    const size_t had = content.size();
    content.resize(had + kPart);
    file.read(content.data() + had, kPart);
    content.resize(had + static_cast<size_t>(file.gcount()));
  }
  if (content.size() > kMostBytes)
    fail_at(path.string(), "has more than 16 MB, expected a list of groups as text");
  if (!file.eof()) fail_at(path.string(), "cannot read");
  return content;
}

}  // namespace

std::vector<GroupSpec> read_group_file(const std::filesystem::path& path) {
  std::istringstream lines(content_of(path));
  std::vector<GroupSpec> groups;
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string where = path.string() + ": line " + std::to_string(++number);
    std::string_view text = line;
    if (number == 1 && text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // as Windows adds
    text = trimmed(text);
    if (!text.empty() && !text.starts_with('#')) read_line(text, where, groups);
  }
  if (groups.empty())
    fail_at(path.string(), "has no groups, expected lines such as dogs = n02084071");
  return groups;
}

std::vector<GroupSpec> parse_group_names(std::string_view text) {
  std::vector<GroupSpec> groups;
  const std::string where = "--groups";
  while (true) {
    const size_t comma = text.find(',');
    const std::string item(trimmed(text.substr(0, comma)));
    if (item.empty())
      fail_usage("option '--groups' got an empty name, expected a file, or names such as ",
                 "dog,bird,vehicle");
    const weights::Synset* synset = weights::find_synset(item);
    const std::string name = synset != nullptr ? synset->names.front() : item;
    if (std::ranges::find(groups, name, &GroupSpec::name) != groups.end())
      fail_usage("option '--groups' got '", name, "' twice");
    groups.push_back({name, {{.text = item, .where = where}}});
    if (comma == text.npos) return groups;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace vit::tools
