/// The version of the library. CMake reads it here.
#pragma once

#include <string_view>

namespace vit {

/// Of these headers.
inline constexpr std::string_view kVersion = "0.1.0";

/// Of the library that is linked.
std::string_view version();

}  // namespace vit
