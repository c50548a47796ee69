/// WordNet's nouns above the classes of ImageNet-1k: from "beagle" over "dog" to "entity".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vit::weights {

struct Synset {
  std::string id;                      ///< "n02084071"
  std::vector<std::string> names;      ///< "dog", "domestic dog", "Canis familiaris"
  std::vector<const Synset*> above{};  ///< "canine" and "domestic animal"; none above "entity"
};

/// Null if this is neither a class of ImageNet-1k nor above one.
const Synset* find_synset(std::string_view id);

/// All that a name may mean; case, blanks, - and _ do not matter. Of the rarer meanings of a word
/// only those are found that their first name is: "cat" is no big cat.
std::vector<const Synset*> find_synsets(std::string_view name);

/// All names that find_synsets() knows, in lower case, without the names of classes.
std::vector<std::string> synset_names();

/// Whether it is `other` or below it.
bool is_a(const Synset& synset, const Synset& other);

}  // namespace vit::weights
