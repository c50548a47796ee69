#include "tools/eval/class_names.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "tools/cli/suggest.h"
#include "vit/base/error.h"
#include "weights/known/labels.h"

namespace vit::tools {
namespace {

constexpr size_t kWordnetIdLength = 9;

/// In lower case; blanks, - and _ are equal, none at the ends.
std::string normalized(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    const bool gap = c == ' ' || c == '_' || c == '-';
    if (gap && (plain.empty() || plain.back() == ' ')) continue;
    plain += gap ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (plain.ends_with(' ')) plain.pop_back();
  return plain;
}

std::vector<std::string> comma_parts(const std::string& label) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= label.size();) {
    const size_t comma = std::min(label.find(',', at), label.size());
    parts.push_back(normalized(label.substr(at, comma - at)));
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
/// another order would hardly agree at all.
bool are_imagenet(const std::vector<std::string>& labels) {
  const auto known = weights::imagenet1k_classes();
  if (labels.size() != known.size()) return false;
  size_t agreed = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto parts = comma_parts(labels[i]);
    agreed += std::ranges::any_of(known[i].names, [&](const std::string& name) {
      return std::ranges::find(parts, normalized(name)) != parts.end();
    });
  }
  return 2 * agreed > labels.size();
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

ClassNames::ClassNames(std::string model, std::vector<std::string> labels, size_t classes)
    : model_(std::move(model)), labels_(std::move(labels)), classes_(classes) {
  const auto known = weights::imagenet1k_classes();
  imagenet_ = labels_.empty() ? classes == known.size() : are_imagenet(labels_);
  for (size_t i = 0; i < std::min(labels_.size(), classes_); ++i) {
    note(whole_, normalized(labels_[i]), i);
    note(whole_, std::string(leading_wordnet_id(labels_[i])), i);
    for (const std::string& part : comma_parts(labels_[i])) note(parts_, part, i);
  }
  if (!imagenet_) return;
  for (size_t i = 0; i < known.size(); ++i)
    for (const std::string& name : known[i].names) note(other_names_, normalized(name), i);
}

std::optional<size_t> ClassNames::find_by_name(std::string_view name) const {
  const std::string wanted = normalized(name);
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
  if (const auto found = find_by_name(name)) return found;
  if (const auto found = find_by_wordnet_id(leading_wordnet_id(name))) return found;
  size_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (name.empty() || error != std::errc{} || end != name.data() + name.size() || index >= classes_)
    return std::nullopt;
  return index;
}

std::string ClassNames::explain(std::string_view name) const {
  std::string text = "'" + std::string(name) + "' is not a class of " + model_ +
                     " by name, WordNet id or index (0 to " + std::to_string(classes_ - 1) + ")";
  std::vector<std::string> candidates;
  for (const Index* index : {&whole_, &parts_, &other_names_})
    for (const auto& [known, places] : *index) candidates.push_back(known);
  const std::string meant = nearest(normalized(name), candidates);
  return meant.empty() ? text : text + "; did you mean '" + meant + "'?";
}

std::string ClassNames::label(size_t index) const {
  return index < labels_.size() ? labels_[index] : "class " + std::to_string(index);
}

}  // namespace vit::tools
