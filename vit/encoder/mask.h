/// Additive masks for attention: 0 where a query may look, -inf where it may not. A causal mask
/// needs no matrix: AttentionMask::causal.
#pragma once

#include <span>
#include <vector>

#include "vit/base/matrix.h"

namespace vit {

/// [tokens, tokens]: query i sees keys 0 to i.
Matrix causal_mask(size_t tokens);

/// One number per key: keys at `valid` and beyond are padding.
std::vector<float> padding_mask(size_t keys, size_t valid);

/// [sum, sum]: sequences of these lengths, packed one after the other, see only themselves.
Matrix block_diagonal_mask(std::span<const size_t> lengths);

}  // namespace vit
