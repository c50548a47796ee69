/// vit eval: how often a model is right.
#pragma once

#include "tools/cli/options.h"

namespace vit::tools {

int run_eval(Arguments arguments);

}  // namespace vit::tools
