/// `vit index`: the vectors of many images in one file, for search, duplicates and clusters.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command index_command();

}  // namespace vit::tools
