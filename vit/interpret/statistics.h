/// Statistics of one head.
#pragma once

#include "vit/interpret/attention_maps.h"

namespace vit::interpret {

/// Attention distance in pixels: the mean over patches of Σ weight · distance between centres. Each
/// row is normalised again without the prefix tokens; rows that attend only to them are left out.
/// head: [T, T]
double attention_distance(ConstMatrixView head, const TokenLayout& layout);

/// Attention entropy: the mean over all queries of -Σ w·log2(w), in bits. 0: each query attends to
/// one token; log2(T): uniform attention.
double attention_entropy(ConstMatrixView head);

/// Mean attention of the patches to the prefix tokens.
double mean_prefix_mass(ConstMatrixView head, const TokenLayout& layout);

}  // namespace vit::interpret
