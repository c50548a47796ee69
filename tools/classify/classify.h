/// vit classify: name the most likely classes of each image.
#pragma once

#include "tools/cli/options.h"

namespace vit::tools {

/// The exit status: 0, or 1 where an image could not be classified.
int run_classify(Arguments arguments);

}  // namespace vit::tools
