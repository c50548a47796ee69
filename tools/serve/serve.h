/// `vit serve`.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command serve_command();

}  // namespace vit::tools
