/// Why a file could not be processed, for rows and messages that name the file themselves.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace vit::tools {

/// The text of `error` without `place`, if it is about that place.
std::string reason_of(const std::exception& error, std::string_view place);

}  // namespace vit::tools
