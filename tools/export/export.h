/// `vit export`: the rows of a `vit batch` as a page of pictures or as Parquet.
#pragma once

#include "tools/cli/command.h"

namespace vit::tools {

Command export_command();

}  // namespace vit::tools
