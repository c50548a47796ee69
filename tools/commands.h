/// The subcommands of vit.
#pragma once

#include <vector>

#include "tools/cli/command.h"

namespace vit::tools {

/// In the order of the help.
std::vector<Command> commands();

}  // namespace vit::tools
