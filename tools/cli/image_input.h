/// Images named on a command line, one of which may come on standard input.
#pragma once

#include <string>
#include <vector>

#include "patch/image/image.h"

namespace vit::tools {

/// What stands for standard input among file names.
inline constexpr const char* kStandardInput = "-";

/// Throws a usage error where standard input is asked for twice, or is a terminal.
void check_standard_input(const std::vector<std::string>& files);

/// As people are told about it.
std::string shown_name(const std::string& file);

/// The image of a file, or on standard input.
patch::Image read_image_input(const std::string& file, const patch::DecodeOptions& options);

/// A message where the file was damaged.
void say_damage(const std::string& file, const patch::Image& image);

}  // namespace vit::tools
