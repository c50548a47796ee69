#include "tools/cli/class_names.h"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "tools/cli/suggest.h"
#include "vit/base/error.h"
#include "vit/base/text.h"
#include "weights/known/labels.h"

namespace vit::tools {
namespace {

constexpr size_t kWordnetIdLength = 9;

using weights::plain_name;

std::vector<std::string> comma_parts(const std::string& label) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= label.size();) {
    const size_t comma = std::min(label.find(',', at), label.size());
    parts.push_back(plain_name(label.substr(at, comma - at)));
    at = comma + 1;
  }
  return parts;
}

void note(std::map<std::string, std::vector<size_t>, std::less<>>& index, const std::string& name,
          size_t place) {
  if (name.empty()) return;
  auto& places = index[name];
  if (places.empty() || places.back() != place) places.push_back(place);
}

/// Whether the labels are ImageNet-1k's in its order. Lists differ in a few spellings, while
/// another order would hardly agree at all. Empty labels are ignored.
bool are_imagenet(const std::vector<std::string>& labels) {
  const auto known = weights::imagenet1k_classes();
  if (labels.size() != known.size()) return false;
  size_t agreed = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto parts = comma_parts(labels[i]);
    agreed += std::ranges::any_of(known[i].names, [&](const std::string& name) {
      return std::ranges::find(parts, plain_name(name)) != parts.end();
    });
  }
  return 2 * agreed > labels.size() - std::ranges::count(labels, "");
}

}  // namespace

std::string_view leading_wordnet_id(std::string_view text) {
  const auto is = [&](size_t i, auto kind) {
    return i < text.size() && kind(static_cast<unsigned char>(text[i])) != 0;
  };
  if (!text.starts_with('n')) return {};
  for (size_t i = 1; i < kWordnetIdLength; ++i)
    if (!is(i, [](int c) { return std::isdigit(c); })) return {};
  if (is(kWordnetIdLength, [](int c) { return std::isalnum(c); })) return {};
  return text.substr(0, kWordnetIdLength);
}

ClassNames::ClassNames(std::string model, std::vector<std::string> labels, size_t classes,
                       std::vector<std::string> wordnet_ids)
    : model_(std::move(model)),
      labels_(std::move(labels)),
      classes_(classes),
      wordnet_ids_(std::move(wordnet_ids)) {
  const auto known = weights::imagenet1k_classes();
  imagenet_ = labels_.empty() ? classes == known.size() : are_imagenet(labels_);
  for (size_t i = 0; i < std::min(labels_.size(), classes_); ++i) {
    note(whole_, plain_name(labels_[i]), i);
    note(whole_, std::string(leading_wordnet_id(labels_[i])), i);
    for (const std::string& part : comma_parts(labels_[i])) note(parts_, part, i);
  }
  for (size_t i = 0; i < wordnet_ids_.size(); ++i) {
    note(whole_, wordnet_ids_[i], i);
    const weights::ImagenetClass* same = weights::find_imagenet1k_class(wordnet_ids_[i]);
    if (same == nullptr) continue;
    for (const std::string& name : same->names) note(other_names_, plain_name(name), i);
  }
  if (!imagenet_) return;
  for (size_t i = 0; i < known.size(); ++i)
    for (const std::string& name : known[i].names) note(other_names_, plain_name(name), i);
}

std::optional<size_t> ClassNames::find_by_name(std::string_view name) const {
  const std::string wanted = plain_name(name);
  for (const Index* index : {&whole_, &parts_, &other_names_}) {
    const auto found = index->find(wanted);
    if (found == index->end()) continue;
    const auto& places = found->second;
    if (places.size() > 1)
      fail("'", name, "' names ", places.size(), " classes of ", model_, ", among them ", places[0],
           " and ", places[1], "; give the index or WordNet id");
    return places.front();
  }
  return std::nullopt;
}

std::optional<size_t> ClassNames::find_by_wordnet_id(std::string_view id) const {
  if (id.empty()) return std::nullopt;
  if (const auto found = find_by_name(id)) return found;  // labels that are such ids
  const weights::ImagenetClass* known = weights::find_imagenet1k_class(id);
  if (known == nullptr) return std::nullopt;
  if (imagenet_) return static_cast<size_t>(known - weights::imagenet1k_classes().data());
  for (const std::string& name : known->names)
    if (const auto found = find_by_name(name)) return found;
  return std::nullopt;
}

std::optional<size_t> ClassNames::find(std::string_view name) const {
  if (members_ != nullptr) return find_group(name);
  if (const auto found = find_by_name(name)) return found;
  if (const auto found = find_by_wordnet_id(leading_wordnet_id(name))) return found;
  const auto index = to_number<size_t>(name);
  return index && *index < classes_ ? index : std::nullopt;
}

std::optional<size_t> ClassNames::find_group(std::string_view name) const {
  if (const auto found = find_by_name(name)) return found;
  const auto member = members_->find(name);
  return member ? std::optional(group_of_[*member]) : std::nullopt;
}

ClassNames ClassNames::grouped(std::vector<std::string> groups,
                               std::vector<size_t> group_of) const {
  const size_t count = groups.size();
  ClassNames names(model_, std::move(groups), count);
  names.members_ = std::make_shared<const ClassNames>(*this);
  names.group_of_ = std::move(group_of);
  return names;
}

std::vector<std::string> ClassNames::names_of(size_t index) const {
  std::vector<std::string> names;
  if (index < labels_.size() && !labels_[index].empty()) {
    names.push_back(labels_[index]);
    for (const std::string& part : comma_parts(labels_[index])) names.push_back(part);
  }
  if (imagenet_)
    for (const std::string& name : weights::imagenet1k_classes()[index].names)
      names.push_back(name);
  return names;
}

std::vector<std::string> ClassNames::all_names() const {
  std::vector<std::string> names;
  for (const Index* index : {&whole_, &parts_, &other_names_})
    for (const auto& [known, places] : *index) names.push_back(known);
  return names;
}

std::vector<size_t> ClassNames::matching(const std::string& pattern) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < classes_; ++i)
    if (std::ranges::any_of(names_of(i), [&](const std::string& name) {
          return fnmatch(pattern.c_str(), name.c_str(), FNM_CASEFOLD) == 0;
        }))
      found.push_back(i);
  return found;
}

const weights::Synset* ClassNames::meaning(size_t index) const {
  if (index < wordnet_ids_.size()) return weights::find_synset(wordnet_ids_[index]);
  if (imagenet_) return weights::find_synset(weights::imagenet1k_classes()[index].wordnet_id);
  if (index >= labels_.size()) return nullptr;
  if (const auto id = leading_wordnet_id(labels_[index]); !id.empty())
    return weights::find_synset(id);
  std::set<const weights::Synset*> meanings;
  for (const std::string& part : comma_parts(labels_[index]))
    for (const weights::Synset* meaning : weights::find_synsets(part)) meanings.insert(meaning);
  return meanings.size() == 1 ? *meanings.begin() : nullptr;
}

std::string ClassNames::explain(std::string_view name) const {
  if (members_ != nullptr) {
    std::string groups;
    for (const auto& group : labels_) groups += (groups.empty() ? "" : ", ") + group;
    return "'" + std::string(name) + "' is not one of the groups (" + groups +
           ") and not in one: " + members_->explain(name);
  }
  std::string text = "'" + std::string(name) + "' is not a class of " + model_ +
                     " by name, WordNet id or index (0 to " + std::to_string(classes_ - 1) + ")";
  return text + suggestion(name);
}

std::vector<size_t> ClassNames::related(std::string_view name, bool below) const {
  std::vector<size_t> classes;
  const auto meanings = weights::find_synsets(name);
  for (size_t i = 0; i < classes_ && !meanings.empty(); ++i)
    if (const weights::Synset* own = meaning(i);
        own != nullptr && std::ranges::any_of(meanings, [&](const weights::Synset* s) {
          return below ? is_a(*own, *s) : is_a(*s, *own);
        }))
      classes.push_back(i);
  return classes;
}

std::string ClassNames::suggestion(std::string_view name) const {
  constexpr size_t kShown = 5;
  std::string_view singular = name;
  if (name.ends_with('s') && weights::find_synsets(name).empty()) singular.remove_suffix(1);
  const auto kinds = related(singular, true);
  std::string listed;
  for (size_t i = 0; i < std::min(kShown, kinds.size()); ++i)
    listed += (i == 0 ? "" : ", ") + label(kinds[i]);
  if (kinds.size() > kShown) listed += ", … (" + std::to_string(kinds.size()) + ")";
  if (!kinds.empty())
    return "; " + std::string(kinds.size() == 1 ? "a kind" : "kinds") + " of " +
           std::string(singular) + (kinds.size() == 1 ? " is " : " are ") + listed;
  const auto above = related(singular, false);
  const auto nearer = [&](size_t a, size_t b) { return is_a(*meaning(a), *meaning(b)); };
  if (!above.empty())
    return "; it is a kind of '" + label(*std::ranges::min_element(above, nearer)) + "'";
  const std::string meant = nearest(plain_name(name), all_names());
  return meant.empty() ? "" : "; did you mean '" + meant + "'?";
}

std::string ClassNames::label(size_t index) const {
  return index < labels_.size() && !labels_[index].empty() ? labels_[index]
                                                           : "class " + std::to_string(index);
}

ClassNames class_names(const Classifier& classifier) {
  return {classifier.name(), classifier.labels(), classifier.config().head.classes,
          classifier.wordnet_ids()};
}

std::vector<size_t> find_classes(const Classifier& classifier,
                                 const std::vector<std::string>& texts) {
  if (texts.empty()) return {};
  const ClassNames names = class_names(classifier);
  if (names.classes() == 0) fail(names.model(), " has no classes, its output is features");
  std::vector<size_t> classes;
  for (const auto& text : texts) {
    const auto found = names.find(text);
    if (!found) fail(names.explain(text));
    if (std::ranges::find(classes, *found) == classes.end()) classes.push_back(*found);
  }
  return classes;
}

}  // namespace vit::tools
