/// `vit batch`: the classes of many images, a row for each.
#pragma once

#include "tools/cli/options.h"

namespace vit::tools {

int run_batch(Arguments arguments);

}  // namespace vit::tools
