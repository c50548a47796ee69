/// Images named on a command line, one of which may come on standard input.
#pragma once

#include <string>
#include <vector>

#include "patch/image/image.h"
#include "vit/data/skipped_files.h"

namespace vit::tools {

/// The name of standard input among file names.
inline constexpr const char* kStandardInput = "-";

/// Throws a UsageError if standard input is given twice, or is a terminal.
void check_standard_input(const std::vector<std::string>& files);

/// The name shown to the user.
std::string shown_name(const std::string& file);

struct ImageFiles {
  std::vector<std::string> files;
  data::SkippedFiles skipped;  ///< in the folders
};

/// Files, and the images in folders (vit/data/README.md). Throws an Error for a
/// folder without any.
ImageFiles image_files(const std::vector<std::string>& operands);

/// Writes a message that counts the other files in the folders, if there are any.
void say_skipped(const data::SkippedFiles& skipped);

/// The image of a file, or on standard input.
patch::Image read_image_input(const std::string& file, const patch::DecodeOptions& options);

/// Writes a message if the file was damaged.
void say_damage(const std::string& file, const patch::Image& image);

}  // namespace vit::tools
