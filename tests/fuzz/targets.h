/// The parsers of untrusted files, each as a function of bytes. A target must return for any bytes:
/// it catches Errors, which are how parsers refuse a file; everything else is a bug, which a
/// sanitizer or GoogleTest reports.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vit::fuzz {

struct Target {
  std::string_view name;
  void (*parse)(std::span<const std::byte> bytes);
  /// Small files, good ones and bad ones, that fuzzing starts from.
  std::vector<std::string> (*seeds)();
};

std::span<const Target> targets();

/// The target of this name, which must exist.
const Target& target(std::string_view name);

}  // namespace vit::fuzz
