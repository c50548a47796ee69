/// `vit models`: the catalogue, and what is in the cache.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command models_command();

}  // namespace vit::tools
