/// How much memory an action takes.
#pragma once

#include <cstddef>
#include <fstream>
#include <functional>
#include <string>

#include "tests/support/sanitizer.h"

namespace vit::test {

/// The most memory that this process holds while `action` runs, beyond what it held before, in MB;
/// 0 with AddressSanitizer, which keeps what was freed.
inline std::size_t peak_megabytes(const std::function<void()>& action) {
  const auto peak = [] {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmHWM:")) return std::stoul(line.substr(6)) / 1024;
    return 0ul;
  };
  std::ofstream("/proc/self/clear_refs") << "5";
  const std::size_t before = peak();
  action();
  return kAddressSanitizer ? 0 : peak() - before;
}

}  // namespace vit::test
