/// Token merging (ToMe, Bolya et al. 2023): after each attention the most similar tokens are
/// merged, so that later layers process fewer. It needs no training and costs a little accuracy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vit/base/matrix.h"
#include "vit/kernels/cpu.h"

namespace vit {

/// What became of the tokens of a sequence.
struct MergedTokens {
  std::vector<float> sizes;            ///< how many original tokens each remaining one represents
  std::vector<std::uint32_t> sources;  ///< for each original token, the one that now contains it
};

/// The state of one sequence while it passes through the layers.
class TokenMerge {
 public:
  /// Removes up to `per_layer` tokens after each layer. The first `prefix` tokens are never merged.
  TokenMerge(size_t per_layer, size_t prefix) : per_layer_(per_layer), prefix_(prefix) {}

  /// Starts a new sequence of this many unmerged tokens.
  void start(size_t tokens);
  /// Goes on with a sequence that earlier layers have merged.
  void resume(const MergedTokens& merged);

  /// Merges within tokens [T, D] whose attention keys are `keys` [T, heads·d]. Tokens alternate
  /// between two sets; each token of the first finds the nearest of the second (cosine of the keys,
  /// averaged over heads), and the nearest pairs become their mean, weighted by the sizes of both.
  /// The remaining tokens keep their order and fill the first rows, which are returned.
  MatrixView merge(ConstMatrixView keys, size_t heads, MatrixView tokens, Isa isa);

  const MergedTokens& merged() const { return merged_; }
  std::span<const float> sizes() const { return merged_.sizes; }
  /// Logarithms of the sizes: a merged token receives as much attention as its parts did.
  std::span<const float> key_bias() const { return key_bias_; }
  std::span<const std::uint32_t> sources() const { return merged_.sources; }

 private:
  struct Pair {
    size_t from = 0;
    size_t into = 0;
    float similarity = 0.0f;
  };

  /// One unit vector per token, [T, d].
  ConstMatrixView average_keys(ConstMatrixView keys, size_t heads);
  /// Finds the pairs to merge, in rising order of `from`.
  void match(ConstMatrixView metric, Isa isa);
  MatrixView compact(MatrixView tokens);
  void set_key_bias();

  size_t per_layer_;
  size_t prefix_;
  MergedTokens merged_;
  std::vector<float> key_bias_;
  // Reused from layer to layer.
  Matrix metric_;
  Matrix similarity_;
  std::vector<Pair> pairs_;
  std::vector<std::uint32_t> moved_;  // old index to new one
};

}  // namespace vit
