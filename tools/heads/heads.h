/// vit heads: every attention head of a model, over a set of images.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command heads_command();

}  // namespace vit::tools
