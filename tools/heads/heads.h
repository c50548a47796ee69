/// vit heads: what every attention head of a model does, over a set of images.
#pragma once

#include "tools/cli/options.h"

namespace vit::tools {

/// The exit status: 0, or 1 where an image could not be read.
int run_heads(Arguments arguments);

}  // namespace vit::tools
