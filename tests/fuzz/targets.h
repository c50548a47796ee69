/// The parsers of untrusted files, each as a function of bytes. Whatever the bytes are, a
/// target returns: an Error is a parser's proper answer and is swallowed, everything else is a bug
/// and left to whoever watches (a sanitizer, GoogleTest).
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
  /// Good files, small ones, and bad ones that were thought of: where a search starts.
  std::vector<std::string> (*seeds)();
};

std::span<const Target> targets();

/// The target of this name; there is one, or it is our bug.
const Target& target(std::string_view name);

}  // namespace vit::fuzz
