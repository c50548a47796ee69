#include "tools/cli/group_members.h"

#include <algorithm>

#include "tools/cli/suggest.h"
#include "tools/output/format.h"
#include "vit/base/error.h"
#include "weights/known/labels.h"

namespace vit::tools {
namespace {

using weights::Synset;

bool is_pattern(const std::string& text) {
  return text.find_first_of("*?[") != text.npos;
}

/// Words of which this may be the plural.
std::vector<std::string> singulars(const std::string& word) {
  std::vector<std::string> words;
  if (word.ends_with("ies")) words.push_back(word.substr(0, word.size() - 3) + "y");
  if (word.ends_with("es")) words.push_back(word.substr(0, word.size() - 2));
  if (word.ends_with("s")) words.push_back(word.substr(0, word.size() - 1));
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// " (wading bird)"
std::string kind_of(const Synset& synset) {
  return synset.above.empty() ? "" : " (" + synset.above.front()->names.front() + ")";
}

std::string class_count(size_t count) {
  return format_count(count) + (count == 1 ? " class" : " classes");
}

}  // namespace

GroupMembers::GroupMembers(const ClassNames& names) : names_(names) {
  for (size_t i = 0; i < names.classes(); ++i) meanings_.push_back(names.meaning(i));
}

std::vector<size_t> GroupMembers::below(const Synset& synset) {
  std::vector<size_t> found;
  for (size_t i = 0; i < meanings_.size(); ++i)
    if (meanings_[i] != nullptr && is_a(*meanings_[i], synset)) found.push_back(i);
  asked_ = asked_ || !found.empty();
  return found;
}

bool GroupMembers::knows_wordnet() const {
  return std::ranges::any_of(meanings_, [](const Synset* s) { return s != nullptr; });
}

std::vector<size_t> GroupMembers::find(const GroupItem& item) {
  if (item.quoted) {
    const auto found = names_.find(item.text);
    return found ? std::vector{*found} : std::vector<size_t>{};
  }
  if (is_pattern(item.text)) return names_.matching(item.text);
  if (leading_wordnet_id(item.text) == item.text) return find_id(item);
  auto found = find_name(item, item.text);
  for (const auto& word : singulars(item.text))
    if (found.empty()) found = find_name(item, word);
  return found;
}

std::vector<size_t> GroupMembers::find_id(const GroupItem& item) {
  // Labels may be ids that the tree does not have.
  if (const auto found = names_.find(item.text)) return {*found};
  const Synset* synset = weights::find_synset(item.text);
  if (synset == nullptr)
    fail_at(item.where, item.text, " is not the WordNet id of an ImageNet-1k class or of ",
            "anything above one");
  return below(*synset);
}

std::vector<size_t> GroupMembers::find_name(const GroupItem& item, const std::string& name) {
  std::vector<std::pair<const Synset*, std::vector<size_t>>> meanings;
  for (const Synset* synset : weights::find_synsets(name))
    if (auto classes = below(*synset); !classes.empty())
      meanings.emplace_back(synset, std::move(classes));
  if (meanings.size() > 1) {
    std::string ids;
    for (const auto& [synset, classes] : meanings)
      ids += "\n  " + synset->id + "  " + joined(synset->names) + kind_of(*synset) + ": " +
             class_count(classes.size()) + ", such as " + names_.label(classes.front());
    fail_at(item.where, "'", name, "' has several meanings; give an id:", ids);
  }
  const auto label = names_.find(name);
  if (meanings.empty()) return label ? std::vector{*label} : std::vector<size_t>{};
  const auto& [synset, classes] = meanings.front();
  if (label && std::ranges::find(classes, *label) == classes.end())
    fail_at(item.where, "'", name, "' is the label of class ", *label,
            " and a name of WordNet for ", class_count(classes.size()), "; give the index ", *label,
            " or the id ", synset->id);
  return classes;
}

void GroupMembers::explain(const GroupItem& item) const {
  const std::string& text = item.text;
  const bool wordnet = leading_wordnet_id(text) == text || !weights::find_synsets(text).empty();
  if (item.quoted || (wordnet && knows_wordnet()))
    fail_at(item.where, "no class of ", names_.model(), " is '", text, "'",
            item.quoted ? "" : " or below it in WordNet");
  if (wordnet)
    fail_at(
        item.where, "'", text, "' is of WordNet, and ", names_.model(),
        " has no classes of ImageNet-1k whose ids or names are known; give labels or patterns, ",
        "such as ", names_.label(0));
  if (is_pattern(text))
    fail_at(item.where, "no label of ", names_.model(), " matches '", text, "'");
  std::vector<std::string> candidates = names_.all_names();
  if (knows_wordnet())
    for (auto& name : weights::synset_names()) candidates.push_back(std::move(name));
  const std::string meant = nearest(weights::plain_name(text), candidates);
  fail_at(item.where, "'", text, "' is neither a label of ", names_.model(),
          knows_wordnet() ? " nor a name of WordNet above its classes" : ", nor an index",
          meant.empty() ? "" : "; did you mean '" + meant + "'?");
}

std::vector<size_t> GroupMembers::unknown() const {
  std::vector<size_t> classes;
  for (size_t i = 0; asked_ && i < meanings_.size(); ++i)
    if (meanings_[i] == nullptr) classes.push_back(i);
  return classes;
}

}  // namespace vit::tools
