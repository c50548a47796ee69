/// Problems of a data set that often spoil a training run without an error.
#pragma once

#include <string>
#include <vector>

#include "vit/data/dataset.h"

namespace vit::tools {

/// Lines of warning: uneven classes, the same image in two classes, training images that are
/// validation images too. `balanced`: rare classes already get more weight.
std::vector<std::string> data_warnings(const data::Dataset& dataset, bool balanced);

}  // namespace vit::tools
