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

  /// The classes that the item names: by a pattern, by a WordNet id, or by a name, which is a label
  /// or, also in the plural, a name of WordNet for all classes below it. Empty: none; explain()
  /// then gives the reason. Throws an Error for an ambiguous name, and for an id that is not in the
  /// tree.
  std::vector<size_t> find(const GroupItem& item);

  /// Throws the Error for an item without classes.
  [[noreturn]] void explain(const GroupItem& item) const;

  /// Classes that are not known to WordNet; empty if no item was looked up there.
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
