/// vit classify: name the most likely classes of each image.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command classify_command();

}  // namespace vit::tools
