/// `vit batch`: the classes of many images, a row for each.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command batch_command();

}  // namespace vit::tools
