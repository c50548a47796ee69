#include "tools/draw/font_files.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "vit/base/error.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

/// Fallback fonts beyond this many are not looked at.
constexpr std::size_t kMostFiles = 20'000;

struct KnownFamily {
  std::string_view regular;
  std::string_view bold;
};
/// Fonts for text with many scripts, best first.
constexpr std::array<KnownFamily, 7> kKnown{{
    {"DejaVuSans.ttf", "DejaVuSans-Bold.ttf"},
    {"NotoSans-Regular.ttf", "NotoSans-Bold.ttf"},
    {"NotoSansCJK-Regular.ttc", "NotoSansCJK-Bold.ttc"},
    {"LiberationSans-Regular.ttf", "LiberationSans-Bold.ttf"},
    {"FreeSans.ttf", "FreeSansBold.ttf"},
    {"Arial.ttf", "Arial Bold.ttf"},
    {"Helvetica.ttc", ""},
}};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<fs::path> font_folders() {
  std::vector<fs::path> folders;
  const std::string home = environment("HOME"), data = environment("XDG_DATA_HOME");
  if (!data.empty()) folders.push_back(fs::path(data) / "fonts");
  if (!home.empty())
    for (const char* own : {".local/share/fonts", ".fonts", "Library/Fonts"})
      folders.push_back(fs::path(home) / own);
  for (const char* common :
       {"/usr/local/share/fonts", "/usr/share/fonts", "/System/Library/Fonts", "/Library/Fonts"})
    folders.emplace_back(common);
  return folders;
}

bool is_font(const fs::path& file) {
  const std::string ending = file.extension().string();
  return ending == ".ttf" || ending == ".otf" || ending == ".ttc" || ending == ".otc";
}

void add_fonts_of(const fs::path& folder, std::vector<fs::path>& files) {
  std::error_code error;
  std::vector<fs::path> found;
  auto entry = fs::recursive_directory_iterator(
      folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator() && found.size() < kMostFiles;
       entry.increment(error)) {
    std::error_code unknown;
    if (is_font(entry->path()) && entry->is_regular_file(unknown)) found.push_back(entry->path());
  }
  std::ranges::sort(found);  // the same picture on every run
  files.insert(files.end(), found.begin(), found.end());
}

fs::path find_named(std::string_view name) {
  const auto& files = installed_fonts();
  const auto found = std::ranges::find_if(
      files, [&](const fs::path& file) { return file.filename().string() == name; });
  return found == files.end() ? fs::path() : *found;
}

}  // namespace

const std::vector<fs::path>& installed_fonts() {
  static const std::vector<fs::path> files = [] {
    std::vector<fs::path> all;
    for (const fs::path& folder : font_folders()) add_fonts_of(folder, all);
    return all;
  }();
  return files;
}

FontFamily chosen_family() {
  if (const std::string chosen = environment("VIT_FONT"); !chosen.empty()) {
    std::error_code error;
    if (!fs::is_regular_file(chosen, error))
      fail("$VIT_FONT names '", chosen,
           "', which is not a file; expected a .ttf, .otf or .ttc file");
    return {chosen, {}};
  }
  for (const KnownFamily& family : kKnown)
    if (const fs::path regular = find_named(family.regular); !regular.empty())
      return {regular, family.bold.empty() ? fs::path() : find_named(family.bold)};
  const auto& files = installed_fonts();
  return {files.empty() ? fs::path() : files.front(), {}};
}

}  // namespace vit::tools
