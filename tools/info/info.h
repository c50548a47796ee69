/// `vit info`: what a model is.
#pragma once

#include "tools/cli/options.h"

namespace vit::tools {

int run_info(Arguments arguments);

}  // namespace vit::tools
