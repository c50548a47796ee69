/// vit train: your own classes, from a folder of images.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command train_command();

}  // namespace vit::tools
