/// `vit models`: the catalogue, and what is in the cache.
#pragma once

#include "tools/cli/options.h"

namespace vit::tools {

int run_models(Arguments arguments);

}  // namespace vit::tools
