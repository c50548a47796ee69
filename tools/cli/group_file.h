/// Lists of groups as users write them: "dogs = n02084071", "pets = tabby, *retriever*, !flat*".
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vit::tools {

/// A label, a pattern, a WordNet id or a name of WordNet.
struct GroupItem {
  std::string text;
  bool quoted = false;   ///< "in quotes": a label and nothing else
  bool removed = false;  ///< !text: its classes, or those of an earlier group, leave the group
  std::string where{};   ///< for messages: "groups.txt: line 3"
};

struct GroupSpec {
  std::string name;
  std::vector<GroupItem> items;
};

/// Lines "group = item, item"; a line for a group that exists adds to it. Blank lines and lines
/// that begin with # mean nothing. Throws an Error that names the line.
std::vector<GroupSpec> read_group_file(const std::filesystem::path& path);

/// "dog,bird": groups of these names, each with what the name means; a WordNet id has the first
/// name of what it means. Throws an Error for a name that is empty or comes twice.
std::vector<GroupSpec> parse_group_names(std::string_view text);

}  // namespace vit::tools
