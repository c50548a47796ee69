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
  bool removed = false;  ///< !text: its classes, or those of an earlier group, are removed
  std::string where{};   ///< for messages: "groups.txt: line 3"
};

struct GroupSpec {
  std::string name;
  std::vector<GroupItem> items;
};

/// Lines "group = item, item"; a line for a group that exists adds to it. Blank lines and lines
/// that begin with # are ignored. Throws an Error that names the line.
std::vector<GroupSpec> read_group_file(const std::filesystem::path& path);

/// "dog,bird": a group for each name, with the classes that the name means; the group of a WordNet
/// id gets the first name of its synset. Throws an Error for a name that is empty or repeated.
std::vector<GroupSpec> parse_group_names(std::string_view text);

}  // namespace vit::tools
