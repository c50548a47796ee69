/// Class relevance: attention weighted by its gradient, through all layers. The backward pass is
/// that of vit/gradient.
#pragma once

#include <span>
#include <vector>

#include "vit/gradient/network.h"
#include "vit/interpret/query.h"
#include "vit/interpret/rollout.h"

namespace vit::interpret {

struct RelevanceOptions {
  Query query{};  ///< whose row is computed; a pool or class layers start from their own attention
  HeadFusion fusion = HeadFusion::kMean;
  size_t first_layer = 0;
};

/// One image: one forward pass, then a backward pass per class.
class Explanation {
 public:
  /// patches: [N, 3·P·P] as patch::patchify cuts them. Both must outlive this.
  Explanation(const gradient::Network<float>& network, ConstMatrixView patches);

  std::span<const float> output() const { return output_; }

  /// A weight per token, none negative: R <- R + fuse(max(A · dY/dA, 0)) · R over the layers, the
  /// query's row of it without the identity that it starts from. Y is the output `target`.
  std::vector<float> relevance(size_t target, const RelevanceOptions& options);

  /// First-order estimate of the decrease of log P(target) without each head, [layers·heads]. Its
  /// absolute value is the importance of Michel et al.
  std::vector<double> head_estimates(size_t target);

 private:
  gradient::NetworkView<float> network_;
  TokenLayout layout_;
  gradient::Trace<float> trace_;
  std::vector<float> output_;
};

}  // namespace vit::interpret
