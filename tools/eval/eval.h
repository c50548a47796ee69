/// vit eval: the accuracy of a model.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command eval_command();

}  // namespace vit::tools
