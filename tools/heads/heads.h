/// vit heads: what every attention head of a model does, over a set of images.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command heads_command();

}  // namespace vit::tools
