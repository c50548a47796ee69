/// Similarity of heads.
#pragma once

#include <vector>

#include "vit/interpret/attention_maps.h"

namespace vit::interpret {

/// [L·H, L·H]: Pearson's correlation between the attention matrices of each two heads, 1 on the
/// diagonal; 0 for a head with uniform attention.
Matrix head_similarity(const AttentionMaps& maps);

struct Duplicate {
  HeadId first;
  HeadId second;
  double similarity = 0.0;
};

constexpr double kDuplicateSimilarity = 0.95;

/// Pairs of at least this similarity, the most similar first.
std::vector<Duplicate> find_duplicates(ConstMatrixView similarity, size_t heads,
                                       double least = kDuplicateSimilarity);

}  // namespace vit::interpret
