/// Arrays as NumPy files (format 1.0): float32, C order.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace vit::tools {

using std::size_t;

/// The header before the numbers; at least `bytes` long, and a multiple of 64.
std::string npy_opening(const std::vector<size_t>& shape, size_t bytes = 0);

std::string npy_bytes(std::span<const float> numbers, const std::vector<size_t>& shape);

}  // namespace vit::tools
