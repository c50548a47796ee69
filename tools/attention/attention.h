/// vit attention: show where a model attends in an image.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command attention_command();

}  // namespace vit::tools
