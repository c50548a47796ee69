#include "vit/encoder/mask.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace vit {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

}  // namespace

Matrix causal_mask(size_t tokens) {
  Matrix mask(tokens, tokens);
  for (size_t i = 0; i < tokens; ++i)
    for (size_t j = i + 1; j < tokens; ++j) mask(i, j) = kHidden;
  return mask;
}

std::vector<float> padding_mask(size_t keys, size_t valid) {
  std::vector<float> mask(keys, 0.0f);
  std::fill(mask.begin() + static_cast<std::ptrdiff_t>(std::min(valid, keys)), mask.end(), kHidden);
  return mask;
}

Matrix block_diagonal_mask(std::span<const size_t> lengths) {
  const size_t total = std::accumulate(lengths.begin(), lengths.end(), size_t{0});
  Matrix mask(total, total);
  std::fill_n(mask.data(), mask.size(), kHidden);
  size_t first = 0;
  for (const size_t length : lengths) {
    for (size_t i = first; i < first + length; ++i)
      std::fill_n(mask.view().row(i) + first, length, 0.0f);
    first += length;
  }
  return mask;
}

}  // namespace vit
