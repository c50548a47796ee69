/// `vit convert`: any checkpoint to one self-contained file.
#pragma once

#include "tools/cli/options.h"

namespace vit::tools {

int run_convert(Arguments arguments);

}  // namespace vit::tools
