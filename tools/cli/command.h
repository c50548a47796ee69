/// The subcommands, and what happens around them: help, suggestions, errors to exit codes.
#pragma once

#include <span>
#include <string_view>

#include "tools/cli/options.h"

namespace vit::tools {

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(Arguments arguments);
};

std::span<const Command> commands();

/// The whole program. 0: done; 1: something went wrong; 2: it was called wrongly.
int run_program(Arguments arguments);

}  // namespace vit::tools
