/// The page of the service and its OpenAPI description, embedded by the build.
#pragma once

#include <string_view>

namespace vit::tools::serve {

extern const std::string_view kPage;
extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;
extern const std::string_view kOpenApi;

}  // namespace vit::tools::serve
