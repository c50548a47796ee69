/// The classes of a model that the items of groups name.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/cli/class_names.h"
#include "tools/cli/group_file.h"

namespace vit::tools {

class GroupMembers {
 public:
  /// `names` must outlive it.
  explicit GroupMembers(const ClassNames& names);

  /// The classes of a pattern, of a WordNet id, or of a name, which may be a label or WordNet's for
  /// all classes below it, also in the plural. Empty: none has it, and explain() says so. Throws an
  /// Error if the item means several things or is an id that WordNet's tree does not have.
  std::vector<size_t> find(const GroupItem& item);

  /// Throws the Error for an item without classes.
  [[noreturn]] void explain(const GroupItem& item) const;

  /// Classes of which nothing is known in WordNet, if some item was looked up there.
  std::vector<size_t> unknown() const;

 private:
  std::vector<size_t> below(const weights::Synset& synset);
  std::vector<size_t> find_id(const GroupItem& item);
  std::vector<size_t> find_name(const GroupItem& item, const std::string& name);
  bool knows_wordnet() const;

  const ClassNames& names_;
  std::vector<const weights::Synset*> meanings_;  ///< of each class; null: not known
  bool asked_ = false;
};

}  // namespace vit::tools
