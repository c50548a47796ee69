/// `vit merge`: the files of many machines into one.
#pragma once

#include "tools/cli/options.h"

namespace vit::tools {

int run_merge(Arguments arguments);

}  // namespace vit::tools
