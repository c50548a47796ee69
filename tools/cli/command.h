/// A subcommand as data. Help, parsing and the check of operands happen here, once for all of them.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string_view>

#include "tools/cli/options.h"

namespace vit::tools {

/// Operands of a command line.
struct Operands {
  size_t least = 0;
  size_t most = std::numeric_limits<size_t>::max();
  std::string_view noun;      ///< "image"
  std::string_view expected;  ///< "one or more files, or - for one on standard input"
  bool model_first = false;   ///< the first of `most` is the model, unless -m gives it
};

struct Command {
  std::string_view name;
  std::string_view summary;      ///< in the list of commands
  std::string_view description;  ///< above the options
  std::string_view usage;        ///< after "vit NAME"
  std::string_view examples;     ///< below the options
  Operands operands;
  void (*add_options)(cxxopts::Options& options);  ///< all but --help
  int (*run)(const cxxopts::ParseResult& arguments);
};

cxxopts::Options options_of(const Command& command);

/// Parses, answers --help, checks the operands and runs. Throws a UsageError.
int run_command(const Command& command, Arguments arguments);

/// The whole program. 0: done; 1: something went wrong; 2: wrong usage.
int run_program(std::span<const Command> commands, Arguments arguments);

}  // namespace vit::tools
