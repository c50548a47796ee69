/// The options of sorting, shared by `vit batch` and `vit sort`.
#pragma once

#include <string_view>
#include <vector>

#include "tools/cli/options.h"
#include "tools/rows/sorting/sorting.h"

namespace vit::tools {

/// --copy-to, --link-to, --unsure-folder, --failed-folder and --keep-folders.
void add_sort_options(cxxopts::Options& options);

/// Without `least` and `bases`. `ways`: the options that name a folder. Throws a UsageError.
SortSettings parse_sort_settings(const cxxopts::ParseResult& arguments,
                                 const std::vector<std::pair<std::string_view, SortBy>>& ways);

}  // namespace vit::tools
