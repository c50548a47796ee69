/// Patterns such as "photos/**/*.jpg", for a shell that did not expand them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace vit::tools {

bool is_glob(std::string_view text);

/// Calls `visit` with every path that matches, in the order of the names, until it returns false;
/// returns false then. `*`, `?` and `[…]` match within a name, `**` any number of folders, nothing
/// a leading dot that is not written.
bool visit_glob(const std::string& pattern,
                const std::function<bool(const std::string& path)>& visit);

}  // namespace vit::tools
