/// `vit info`: describes a model.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command info_command();

}  // namespace vit::tools
