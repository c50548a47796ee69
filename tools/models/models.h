/// `vit models`: the catalogue and the cache.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command models_command();

}  // namespace vit::tools
