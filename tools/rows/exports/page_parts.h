/// Style and script of the page of results.
#pragma once

#include <string_view>

namespace vit::tools {

extern const std::string_view kResultsStyle;   ///< after that of all contact sheets
extern const std::string_view kResultsScript;  ///< reads the JSON in the element "data"
extern const std::string_view kResultsBody;    ///< with {{TITLE}} and {{NOTE}} to be replaced

}  // namespace vit::tools
