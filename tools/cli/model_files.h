/// The files of a model.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "vit/model/classifier.h"

namespace vit::tools {

/// From a folder or a weight file: one file, or the shards of a sharded model, in the
/// order of their names.
std::vector<std::filesystem::path> weight_files(const std::filesystem::path& model);

/// True if neither `given`, the value of -m, nor $VIT_MODEL names a model.
bool is_bundled(const std::string& given);

/// The name of a model in reports and pictures: the file name of a model that was given as a file,
/// because the user's models of one architecture all have the same name.
std::string shown_model(const std::string& given, const Classifier& classifier);

}  // namespace vit::tools
