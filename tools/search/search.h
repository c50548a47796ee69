/// `vit search`: the images of an index that are most like other images or texts.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command search_command();

}  // namespace vit::tools
