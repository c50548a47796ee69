/// vit attention: show where a model looks in an image.
#pragma once

#include "tools/cli/options.h"

namespace vit::tools {

/// The exit status: 0, or 1 where an image could not be shown.
int run_attention(Arguments arguments);

}  // namespace vit::tools
