/// `vit embed`: the features of many images, for search and clustering.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command embed_command();

}  // namespace vit::tools
