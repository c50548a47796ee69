/// The names of ImageNet-1k's classes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vit::weights {

struct ImagenetClass {
  std::string wordnet_id;          ///< "n01440764"
  std::vector<std::string> names;  ///< "tench", "Tinca tinca"; the first is shown to people
};

/// In the order of the classifier's outputs.
std::span<const ImagenetClass> imagenet1k_classes();

/// The first name of each.
std::vector<std::string> imagenet1k_labels();

/// A name for comparing: in lower case; blanks, - and _ are equal, none at the ends.
std::string plain_name(std::string_view name);

/// Null if no class has this id.
const ImagenetClass* find_imagenet1k_class(std::string_view wordnet_id);

}  // namespace vit::weights
