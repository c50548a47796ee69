/// Properties of the model alone: its positions and its patch filters.
#pragma once

#include <vector>

#include "vit/interpret/attention_maps.h"

namespace vit::interpret {

/// [N, N]: the cosine between the position embeddings of each two patches. Throws an Error if the
/// model has none.
Matrix position_similarity(const Model& model);

struct FilterComponents {
  Matrix components;          ///< [k, 3·P·P], unit length, channel after channel, row after row
  std::vector<double> share;  ///< of the filters' variance that each explains
};

/// The first `k` principal components of the filters of the patch projection; fewer if there are
/// fewer.
FilterComponents filter_components(const Model& model, size_t k);

/// The same of any filters, one per row.
FilterComponents principal_components(ConstMatrixView filters, size_t k, Isa isa);

}  // namespace vit::interpret
