/// vit eval: how often a model is right.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command eval_command();

}  // namespace vit::tools
