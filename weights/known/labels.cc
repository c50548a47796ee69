#include "weights/known/labels.h"

#include <cctype>
#include <sstream>
#include <unordered_map>

#include "weights/known/resources.h"

namespace vit::weights {
namespace {

/// "n01440764 tench, Tinca tinca"
ImagenetClass read_class(const std::string& line) {
  ImagenetClass result;
  const size_t space = line.find(' ');
  result.wordnet_id = line.substr(0, space);
  for (size_t at = space + 1; at < line.size();) {
    const size_t comma = std::min(line.find(", ", at), line.size());
    result.names.push_back(line.substr(at, comma - at));
    at = comma + 2;
  }
  return result;
}

std::vector<ImagenetClass> read_classes() {
  std::vector<ImagenetClass> classes;
  std::istringstream lines{std::string(resources::kImagenet1kLabels)};
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) classes.push_back(read_class(line));
  return classes;
}

}  // namespace

std::span<const ImagenetClass> imagenet1k_classes() {
  static const auto kClasses = read_classes();
  return kClasses;
}

std::vector<std::string> imagenet1k_labels() {
  std::vector<std::string> labels;
  for (const auto& known : imagenet1k_classes()) labels.push_back(known.names.front());
  return labels;
}

std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    const bool gap = c == ' ' || c == '_' || c == '-';
    if (gap && (plain.empty() || plain.back() == ' ')) continue;
    plain += gap ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (plain.ends_with(' ')) plain.pop_back();
  return plain;
}

const ImagenetClass* find_imagenet1k_class(std::string_view wordnet_id) {
  static const auto kById = [] {
    std::unordered_map<std::string_view, const ImagenetClass*> classes;
    for (const auto& known : imagenet1k_classes()) classes.emplace(known.wordnet_id, &known);
    return classes;
  }();
  const auto found = kById.find(wordnet_id);
  return found == kById.end() ? nullptr : found->second;
}

}  // namespace vit::weights
