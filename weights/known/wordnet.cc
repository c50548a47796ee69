#include "weights/known/wordnet.h"

#include <algorithm>
#include <sstream>
#include <unordered_map>

#include "weights/known/labels.h"
#include "weights/known/resources.h"

namespace vit::weights {
namespace {

std::vector<std::string> split(const std::string& text, std::string_view separator) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + separator.size();
  }
  return parts;
}

class Tree {
 public:
  Tree() {
    std::istringstream lines{std::string(resources::kImagenet1kWordnet)};
    for (std::string line; std::getline(lines, line);)
      if (!line.empty() && !line.starts_with('#')) add(line);
    for (const auto& [synset, ids] : above_)
      for (const auto& id : ids) synset->above.push_back(&synsets_.at(id));
  }

  const Synset* find(std::string_view id) const {
    const auto found = synsets_.find(std::string(id));
    return found == synsets_.end() ? nullptr : &found->second;
  }

  std::vector<const Synset*> find_name(std::string_view name) const {
    const auto found = by_name_.find(plain_name(name));
    return found == by_name_.end() ? std::vector<const Synset*>{} : found->second;
  }

  std::vector<std::string> inner_names() const {
    std::vector<std::string> names;
    for (const auto& [name, meanings] : by_name_)
      if (std::ranges::any_of(
              meanings, [](const Synset* s) { return find_imagenet1k_class(s->id) == nullptr; }))
        names.push_back(name);
    std::ranges::sort(names);
    return names;
  }

 private:
  /// "n02127808 n02120997 big cat, (cat)": the parentheses say that "cat" hardly means it.
  void add(const std::string& line) {
    const size_t first = line.find(' '), second = std::min(line.find(' ', first + 1), line.size());
    const std::string id = line.substr(0, first),
                      above = line.substr(first + 1, second - first - 1);
    Synset& synset = synsets_[id];
    synset.id = id;
    if (above != "-") above_.emplace_back(&synset, split(above, ","));
    if (const ImagenetClass* known = find_imagenet1k_class(id)) {
      for (const auto& name : known->names) add_name(synset, name, true);
      return;
    }
    if (second == line.size()) return;
    for (const auto& name : split(line.substr(second + 1), ", ")) {
      const bool rare = name.starts_with('(');
      add_name(synset, rare ? name.substr(1, name.size() - 2) : name, !rare);
    }
  }

  void add_name(Synset& synset, const std::string& name, bool findable) {
    synset.names.push_back(name);
    if (!findable) return;
    auto& meanings = by_name_[plain_name(name)];
    if (std::ranges::find(meanings, &synset) == meanings.end()) meanings.push_back(&synset);
  }

  std::unordered_map<std::string, Synset> synsets_;
  std::unordered_map<std::string, std::vector<const Synset*>> by_name_;
  std::vector<std::pair<Synset*, std::vector<std::string>>> above_;
};

const Tree& tree() {
  static const Tree kTree;
  return kTree;
}

}  // namespace

const Synset* find_synset(std::string_view id) {
  return tree().find(id);
}

std::vector<const Synset*> find_synsets(std::string_view name) {
  return tree().find_name(name);
}

std::vector<std::string> synset_names() {
  return tree().inner_names();
}

bool is_a(const Synset& synset, const Synset& other) {
  return &synset == &other ||
         std::ranges::any_of(synset.above, [&](const Synset* s) { return is_a(*s, other); });
}

}  // namespace vit::weights
