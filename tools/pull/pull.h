/// `vit pull`: a model from the hub into the cache folder.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command pull_command();

}  // namespace vit::tools
