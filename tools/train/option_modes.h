/// Which options of vit train have an effect in which kind of run.
#pragma once

#include <cxxopts.hpp>

#include "tools/train/settings.h"

namespace vit::tools {

/// Throws a UsageError that names an option without effect.
void check_option_modes(const cxxopts::ParseResult& arguments, TrainingMode mode);

}  // namespace vit::tools
