/// `vit sort`: the files of rows into folders, without inference.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command sort_command();

}  // namespace vit::tools
