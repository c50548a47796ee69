/// Other names for the classes of data: a text file of lines "class, tab, name".
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "vit/data/dataset.h"

namespace vit::tools {

using NamedClasses = std::map<std::string, std::string>;

/// Throws an Error that names the line which is something else, or repeats a class.
NamedClasses read_named_classes(const std::filesystem::path& path);

/// Labels become the names that the file has for them; labels that it does not have stay. Throws an
/// Error if it has none of them, or if two classes get the same name.
void rename_classes(const std::filesystem::path& path, data::Dataset& dataset);

}  // namespace vit::tools
