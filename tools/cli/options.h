/// Option parsing shared by the commands, with messages of what was given and expected.
#pragma once

#include <cstddef>
#include <cxxopts.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/cli/suggest.h"
#include "tools/cli/usage_error.h"
#include "vit/base/enum_names.h"

namespace vit::tools {

/// A subcommand's arguments, without the program's and its own name.
using Arguments = std::span<const char* const>;

/// Throws UsageError, with the nearest option for a mistyped one. Operands are the result's
/// unmatched(): cxxopts would split them at commas if they were declared.
cxxopts::ParseResult parse(cxxopts::Options& options, Arguments arguments);

/// The help, as wide as the terminal: the groups of options in this order, `examples` at the end.
std::string help_text(cxxopts::Options& options, const std::vector<std::string>& groups,
                      std::string_view examples);

/// A whole number from `least` to `most`. `option` is as typed: "--top".
size_t parse_count(std::string_view option, std::string_view text, size_t least, size_t most);

/// A number of pixels, such as 1000000, 800k, 500M or 2G: thousands, millions, billions.
size_t parse_pixel_count(std::string_view option, std::string_view text);

/// A number from `least` to `most`.
double parse_number(std::string_view option, std::string_view text, double least, double most);

/// A number from 0 to 1.
double parse_probability(std::string_view option, std::string_view text);

/// A finite number above zero.
float parse_positive(std::string_view option, std::string_view text);

struct PixelSize {
  size_t height = 0;
  size_t width = 0;

  bool operator==(const PixelSize&) const = default;
};

/// "224" or "224x320", height first.
PixelSize parse_pixel_size(std::string_view option, std::string_view text);

/// Throws the UsageError of parse_choice.
[[noreturn]] void fail_choice(std::string_view option, std::string_view text,
                              std::span<const std::string> names);

/// One of a command's own choices.
template <typename T>
T parse_choice(std::string_view option, std::string_view text,
               const std::vector<std::pair<std::string_view, T>>& choices) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) {
    if (name == text) return value;
    names.emplace_back(name);
  }
  fail_choice(option, text, names);
}

/// All enumerators by their names.
template <NamedEnum Enum>
Enum parse_choice(std::string_view option, std::string_view text) {
  if (const auto value = enum_named<Enum>(text)) return *value;
  fail_usage("option '", option, "' got '", text, "', expected ", list_of_names<Enum>());
}

}  // namespace vit::tools
