/// Finds the classes of a model by the names in a folder, a CSV file or a list of groups.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vit/model/classifier.h"
#include "weights/known/wordnet.h"

namespace vit::tools {

using std::size_t;

/// The beginning of `text` that is a WordNet id ("n01440764", and no letter or digit after it), or
/// nothing.
std::string_view leading_wordnet_id(std::string_view text);

class ClassNames {
 public:
  /// There may be fewer `labels` than classes, or none; empty ones mean unknown. `wordnet_ids` are
  /// those of all classes, or none. Messages start with `model`.
  ClassNames(std::string model, std::vector<std::string> labels, size_t classes,
             std::vector<std::string> wordnet_ids = {});

  /// By name (a label, one of its comma-separated names, or another of ImageNet's names for it;
  /// case, blanks, - and _ do not matter), else by a leading WordNet id, else by index. None: no
  /// such class. Throws an Error if a name is ambiguous.
  std::optional<size_t> find(std::string_view name) const;

  /// Why `name` is not a class, with a suggestion: "'tabbyy' is not a class of …".
  std::string explain(std::string_view name) const;

  /// By meaning if WordNet knows the name ("; kinds of cat are tabby, tiger cat, …"), else by its
  /// letters ("; did you mean 'tabby'?"); or nothing.
  std::string suggestion(std::string_view name) const;

  std::string label(size_t index) const;
  const std::string& model() const { return model_; }
  size_t classes() const { return classes_; }

  /// All names that find() knows, in its spelling.
  std::vector<std::string> all_names() const;

  /// The classes with a name that matches a pattern with *, ? or […]; case does not matter.
  std::vector<size_t> matching(const std::string& pattern) const;

  /// The synset of the class: by its stored id, by ImageNet's order, by the id at the start of its
  /// label, or by a name with only one meaning. Null: not known.
  const weights::Synset* meaning(size_t index) const;

  /// Names of groups of these classes: find() then gives the group of that name, else the group of
  /// the class. `group_of` has the group of each class.
  ClassNames grouped(std::vector<std::string> groups, std::vector<size_t> group_of) const;

 private:
  using Index = std::map<std::string, std::vector<size_t>, std::less<>>;

  std::optional<size_t> find_by_name(std::string_view name) const;
  std::optional<size_t> find_by_wordnet_id(std::string_view id) const;
  std::optional<size_t> find_group(std::string_view name) const;
  /// The classes that are kinds of what `name` means; with `below` false, those that it is a kind
  /// of.
  std::vector<size_t> related(std::string_view name, bool below) const;
  /// Its label, the parts of that, and ImageNet's names for it.
  std::vector<std::string> names_of(size_t index) const;

  std::string model_;
  std::vector<std::string> labels_;
  size_t classes_;
  std::vector<std::string> wordnet_ids_;  ///< as stored in the model
  bool imagenet_ = false;                 ///< the classes are those of ImageNet-1k, in its order
  Index whole_;                           ///< labels as they are
  Index parts_;                           ///< "tench" of "tench, Tinca tinca"
  Index other_names_;                     ///< ImageNet's, also by the stored ids
  std::shared_ptr<const ClassNames> members_;  ///< of groups: the classes; else null
  std::vector<size_t> group_of_;               ///< of each of them
};

/// The names of a model's classes.
ClassNames class_names(const Classifier& classifier);

/// The classes that ClassNames::find() finds by these texts, each once. Throws an Error with the
/// nearest name if there is none.
std::vector<size_t> find_classes(const Classifier& classifier,
                                 const std::vector<std::string>& texts);

}  // namespace vit::tools
