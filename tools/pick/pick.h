/// `vit pick`.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command pick_command();

}  // namespace vit::tools
