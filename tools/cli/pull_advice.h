/// What the program adds to the library's errors.
#pragma once

#include <exception>
#include <string>

namespace vit::tools {

/// The text of an error; where something is missing that `vit pull` downloads, with that command.
std::string message_of(const std::exception& error);

}  // namespace vit::tools
