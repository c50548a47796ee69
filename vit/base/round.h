/// Sizes in whole pieces.
#pragma once

#include <cstddef>

namespace vit {

/// The smallest multiple of `multiple` that is at least n.
constexpr std::size_t round_up(std::size_t n, std::size_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

}  // namespace vit
