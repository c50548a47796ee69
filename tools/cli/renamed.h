/// Commands and options that had another name in earlier versions.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

namespace vit::tools {

struct Renamed {
  std::string_view before;
  std::string_view now;
};

/// Empty where `name` is none of the earlier names.
constexpr std::string_view name_now(std::span<const Renamed> renamed, std::string_view name) {
  const auto found = std::ranges::find(renamed, name, &Renamed::before);
  return found == renamed.end() ? std::string_view() : found->now;
}

}  // namespace vit::tools
