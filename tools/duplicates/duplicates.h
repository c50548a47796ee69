/// `vit duplicates`.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command duplicates_command();

}  // namespace vit::tools
