/// `vit pull`: a model from the hub into the cache folder.
#pragma once

#include "tools/cli/options.h"

namespace vit::tools {

int run_pull(Arguments arguments);

}  // namespace vit::tools
