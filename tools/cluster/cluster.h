/// `vit cluster`.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command cluster_command();

}  // namespace vit::tools
