/// Patterns such as "photos/**/*.jpg", for a shell that did not expand them.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace vit::tools {

bool is_glob(std::string_view text);

/// Calls `visit` with every path that matches, once each, in the order of the names, until it
/// returns false or `stop` is set; returns false then. `*`, `?` and `[…]` match within a name, `**`
/// any number of folders, a leading dot only matches itself. Below a matching folder nothing is
/// visited: the visitor takes the whole folder.
bool visit_glob(const std::string& pattern,
                const std::function<bool(const std::string& path)>& visit,
                const std::atomic<bool>& stop);

/// Whether the pattern would match files in subfolders of `folder`, which need not exist.
bool takes_files_below(const std::string& pattern, const std::filesystem::path& folder);

}  // namespace vit::tools
