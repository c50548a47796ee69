/// `vit join`: the files of many machines into one.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command join_command();

}  // namespace vit::tools
