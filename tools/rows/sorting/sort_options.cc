#include "tools/rows/sorting/sort_options.h"

namespace vit::tools {
namespace {

/// A single folder name.
std::string parse_folder(const cxxopts::ParseResult& arguments, const std::string& option) {
  const auto name = arguments[option].as<std::string>();
  if (folder_name(name) != name)
    fail_usage("option '--", option, "' got '", name,
               "', expected the name of a folder without '/' and without a leading dot");
  return name;
}

}  // namespace

void add_sort_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "", {
              {"copy-to", "copy each file into a folder of its class under DIR", text(), "DIR"},
              {"link-to", "symbolic links in the same folders instead of copies", text(), "DIR"},
              {"unsure-folder", "folder for files below --min-probability",
               text()->default_value("unsure"), "NAME"},
              {"failed-folder", "folder for files of failed rows (default: they are not placed)",
               text(), "NAME"},
              {"keep-folders", "sub-folders of the inputs below each class folder"},
          });
}

SortSettings parse_sort_settings(const cxxopts::ParseResult& arguments,
                                 const std::vector<std::pair<std::string_view, SortBy>>& ways) {
  SortSettings settings;
  std::string given;
  for (const auto& [way, by] : ways) {
    const std::string name(way);
    if (arguments.count(name) == 0) continue;
    if (!given.empty()) fail_usage("--", given, " and --", name, " given, expected one of them");
    given = name;
    settings.by = by;
    settings.folder = arguments[name].as<std::string>();
    if (settings.folder.empty())
      fail_usage("option '--", name, "' got '', expected the name of a folder");
  }
  for (const auto* option : {"unsure-folder", "failed-folder", "keep-folders"})
    if (given.empty() && arguments.count(option) != 0)
      fail_usage("--", option, " given without a folder to sort into, expected --",
                 ways.front().first, " DIR");
  settings.unsure = parse_folder(arguments, "unsure-folder");
  if (arguments.count("failed-folder") != 0)
    settings.failed = parse_folder(arguments, "failed-folder");
  if (settings.failed == settings.unsure)
    fail_usage("option '--failed-folder' got '", settings.failed,
               "', which is the folder of unsure files; expected another name");
  settings.keep_folders = arguments.count("keep-folders") != 0;
  return settings;
}

}  // namespace vit::tools
