/// `vit convert`: any checkpoint to one self-contained file.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command convert_command();

}  // namespace vit::tools
