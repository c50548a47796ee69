/// The options of a model that serves images of unknown origin.
#pragma once

#include "tools/cli/options.h"

namespace vit::tools {

/// Those of add_model_options(), with a lower default of --max-pixels.
void add_served_model_options(cxxopts::Options& options);

}  // namespace vit::tools
