/// Fonts that are installed on this machine.
#pragma once

#include <filesystem>
#include <vector>

namespace vit::tools {

/// The files of a family for text in pictures.
struct FontFamily {
  std::filesystem::path regular;  ///< empty: no font is installed
  std::filesystem::path bold;     ///< empty: the family has none
};

/// All font files in the folders where systems keep them, in a fixed order.
const std::vector<std::filesystem::path>& installed_fonts();

/// The file that $VIT_FONT names, or the best known of the installed families, or any font.
FontFamily chosen_family();

}  // namespace vit::tools
