/// vit attention: show where a model looks in an image.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command attention_command();

}  // namespace vit::tools
