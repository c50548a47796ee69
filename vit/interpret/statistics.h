/// One head in numbers.
#pragma once

#include "vit/interpret/attention_maps.h"

namespace vit::interpret {

/// How far patches look, in pixels: the mean over patches of Σ weight · distance between centres.
/// Each row is normalised again after the prefix tokens are dropped; rows that look at nothing else
/// do not count. head: [T, T]
double attention_distance(ConstMatrixView head, const TokenLayout& layout);

/// How spread out the looks are: the mean over all queries of -Σ w·log2(w), in bits. 0: each looks
/// at one token; log2(T): each at all of them alike.
double attention_entropy(ConstMatrixView head);

/// What the patches give to the prefix tokens, on average: a head that parks its attention.
double mean_prefix_mass(ConstMatrixView head, const TokenLayout& layout);

}  // namespace vit::interpret
