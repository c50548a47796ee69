/// vit train: your own classes, from a folder of images.
#pragma once

#include "tools/cli/options.h"

namespace vit::tools {

int run_train(Arguments arguments);

}  // namespace vit::tools
