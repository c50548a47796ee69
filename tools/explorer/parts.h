/// The explorer's page, style and script, embedded by the build.
#pragma once

#include <string_view>

namespace vit::tools {

extern const std::string_view kExplorerPage;  ///< with {{NAMES}} to be replaced
extern const std::string_view kExplorerStyle;
extern const std::string_view kExplorerScript;

}  // namespace vit::tools
