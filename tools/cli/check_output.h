/// Names of output files: their kind, and checks before any work is done.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace vit::tools {

/// Throws an Error if the folder of `path` does not exist.
void check_folder_of(const std::filesystem::path& path);

/// Throws a UsageError if an output is one of the inputs under any name, or a file in an input
/// folder. Inputs that do not exist are ignored.
void check_outputs(const std::vector<std::filesystem::path>& outputs,
                   const std::vector<std::filesystem::path>& inputs);

/// The kinds of output that a command writes, by the ending of the name; "-" is standard output.
template <typename Kind>
using OutputKinds = std::vector<std::pair<std::string_view, Kind>>;

template <typename Kind>
std::optional<Kind> find_by_ending(const std::filesystem::path& output,
                                   const OutputKinds<Kind>& kinds) {
  for (const auto& [ending, kind] : kinds)
    if (ending == "-" ? output == ending : output.extension() == ending) return kind;
  return std::nullopt;
}

/// Throws the UsageError of choose_by_ending.
[[noreturn]] void fail_ending(const std::filesystem::path& output,
                              std::vector<std::string_view> endings);

/// The kind of the file that --output names. Throws a UsageError that lists the endings.
template <typename Kind>
Kind choose_by_ending(const std::filesystem::path& output, const OutputKinds<Kind>& kinds) {
  if (const auto kind = find_by_ending(output, kinds)) return *kind;
  std::vector<std::string_view> endings;
  for (const auto& [ending, kind] : kinds) endings.push_back(ending);
  fail_ending(output, std::move(endings));
}

}  // namespace vit::tools
