/// `vit embed`: what the encoder makes of many images, for search and clustering.
#pragma once

#include "tools/cli/options.h"

namespace vit::tools {

int run_embed(Arguments arguments);

}  // namespace vit::tools
