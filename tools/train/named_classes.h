/// Other names for the classes of data: a text file of lines "class, tab, name".
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "vit/data/dataset.h"

namespace vit::tools {

using NamedClasses = std::map<std::string, std::string>;

/// Throws an Error that names a malformed line or a repeated class.
NamedClasses read_named_classes(const std::filesystem::path& path);

/// Replaces labels by their names in the file; other labels stay. Throws an
/// Error if it has none of them, or if two classes get the same name.
void rename_classes(const std::filesystem::path& path, data::Dataset& dataset);

}  // namespace vit::tools
