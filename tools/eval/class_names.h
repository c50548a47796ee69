/// Finds the class of a model by the name in a folder or a CSV file.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vit::tools {

using std::size_t;

/// The beginning of `text` that is a WordNet id ("n01440764", and no letter or digit after it), or
/// nothing.
std::string_view leading_wordnet_id(std::string_view text);

class ClassNames {
 public:
  /// `labels` may be fewer than the classes, or none. Messages start with `model`.
  ClassNames(std::string model, std::vector<std::string> labels, size_t classes);

  /// By name (a label, one of its comma-separated names, or another of ImageNet's names for it;
  /// case, blanks, - and _ do not matter), else by a leading WordNet id, else by index. None: no
  /// such class. Throws an Error if a name is ambiguous.
  std::optional<size_t> find(std::string_view name) const;

  /// Why `name` is not a class, with a suggestion: "'tabbyy' is not a class of …".
  std::string explain(std::string_view name) const;

  std::string label(size_t index) const;
  const std::string& model() const { return model_; }

 private:
  using Index = std::map<std::string, std::vector<size_t>, std::less<>>;

  std::optional<size_t> find_by_name(std::string_view name) const;
  std::optional<size_t> find_by_wordnet_id(std::string_view id) const;

  std::string model_;
  std::vector<std::string> labels_;
  size_t classes_;
  bool imagenet_ = false;  ///< the classes are those of ImageNet-1k, in its order
  Index whole_;            ///< labels as they are
  Index parts_;            ///< "tench" of "tench, Tinca tinca"
  Index other_names_;      ///< ImageNet's
};

}  // namespace vit::tools
