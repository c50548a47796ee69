/// Token merging (ToMe, Bolya et al. 2023): after each attention the most alike tokens become one,
/// so that the layers after it have less to do. No training, a little less accuracy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vit/base/matrix.h"

namespace vit {

/// One sequence on its way through the layers.
class TokenMerge {
 public:
  /// Up to `per_layer` tokens fewer after each layer; the first `prefix` tokens are never merged.
  TokenMerge(size_t per_layer, size_t prefix) : per_layer_(per_layer), prefix_(prefix) {}

  /// A new sequence of this many tokens, each standing for itself.
  void start(size_t tokens);

  /// Merges within tokens [T, D] whose attention keys are `keys` [T, heads·d]: tokens alternate
  /// between two sets, each of the first finds its nearest of the second (cosine of the keys,
  /// averaged over heads), and the nearest pairs become one, weighted by how many tokens each
  /// stands for. The tokens left keep their order and move together; the rows in use are returned.
  MatrixView merge(ConstMatrixView keys, size_t heads, MatrixView tokens);

  /// How many original tokens each one left stands for.
  std::span<const float> sizes() const { return sizes_; }
  /// Logarithms of the sizes: a merged token draws as much attention as its parts did.
  std::span<const float> key_bias() const { return key_bias_; }
  /// For each original token, the index of the one it is part of now.
  std::span<const std::uint32_t> sources() const { return sources_; }

 private:
  struct Pair {
    size_t from = 0;
    size_t into = 0;
    float similarity = 0.0f;
  };

  /// One unit vector per token, [T, d].
  ConstMatrixView average_keys(ConstMatrixView keys, size_t heads);
  /// Finds the pairs to merge, in rising order of `from`.
  void match(ConstMatrixView metric);
  MatrixView compact(MatrixView tokens);

  size_t per_layer_;
  size_t prefix_;
  std::vector<float> sizes_;
  std::vector<float> key_bias_;
  std::vector<std::uint32_t> sources_;
  // Reused from layer to layer.
  Matrix metric_;
  Matrix similarity_;
  std::vector<Pair> pairs_;
  std::vector<std::uint32_t> moved_;  // old index to new one
};

}  // namespace vit
