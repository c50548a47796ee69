/// A Vision Transformer that can be differentiated. T is float for training and relevance, double
/// for the tests of its gradients.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "vit/gradient/block.h"
#include "vit/gradient/embedding.h"
#include "vit/gradient/head.h"
#include "vit/gradient/layout.h"
#include "vit/gradient/parts.h"
#include "weights/checkpoint.h"

namespace vit::gradient {

/// One model with its numbers. Threads may share it while it is not changed.
template <typename T>
struct Network {
  ModelConfig config;  ///< the stored position grid is the grid that the model runs on
  Layout layout;
  std::vector<T> numbers;              ///< all parameters, in the order of `layout`
  GrowingMatrix<T> fixed_positions{};  ///< a sinusoidal table, where the model has one
};

/// A model that runs on these rows, as in training: on the weights or on their running average. The
/// tensors are bound to the rows once, here. Threads may share it if it has no gradients.
template <typename T>
struct NetworkView {
  const ModelConfig& config;
  const Layout& layout;
  ModelRows<T> rows;
  ModelParts<T> parts;

  NetworkView(const Network<T>& network)  // NOLINT: a network is a view of itself
      : NetworkView(network, {.numbers = network.numbers}) {}
  /// `network` and the rows must outlive it; its own numbers are not looked at.
  NetworkView(const Network<T>& network, const ModelRows<T>& of);
};

/// All numbers zero. Throws an Error if the configuration has no backward pass.
template <typename T>
Network<T> make_network(const ModelConfig& config);

/// The checkpoint's weights, for the input of its configuration: set_input() (vit/model/open.h)
/// chooses another. `head`: instead of the checkpoint's own, out of the same tensors.
template <typename T>
Network<T> load_network(const weights::Checkpoint& checkpoint,
                        const std::optional<HeadConfig>& head = {});

/// Images of one size, ready for the model.
template <typename T>
struct Batch {
  ConstView<T> patches;  ///< [B·N, 3·P·P] as patch::patchify cuts them; must outlive backward()
  size_t images = 1;     ///< B
  /// Images may come with some of their patches only: [B·kept], the index in the grid of each.
  /// Must outlive backward(). Empty: all patches, in order.
  std::span<const size_t> kept{};
  ConstView<T> paths{};  ///< drop path: [2·depth, B] factors on attention and MLP updates, or none
};

/// Every activation of one batch, and memory for their gradients. Grows with the largest batch.
template <typename T>
struct Trace {
  EmbeddingActivations<T> embedding;
  std::vector<std::vector<BranchActivations<T>>> blocks;  ///< of each branch of each block
  HeadActivations<T> head;
  ConstView<T> paths{};

  EmbeddingActivations<T> d_embedding;
  BranchActivations<T> d_branch;  ///< one branch of one block at a time
  HeadActivations<T> d_head;
};

/// The logits (or features) [B, outputs], which live in the trace.
template <typename T>
ConstView<T> forward(const NetworkView<T>& network, const Batch<T>& batch, Trace<T>& trace);

/// Called while the gradient passes.
template <typename T>
struct BackwardTaps {
  AttentionHook<T> attention{};  ///< from the last layer to the first
  AttentionHook<T> pooling{};  ///< the attention pool's own, or the class layers', last layer first
};

/// From `dlogits` [B, outputs], the gradient at the logits of the forward() before it. Adds to the
/// gradients of the view, and fills `dpatches` [B·N, 3·P·P] unless that is empty.
template <typename T>
void backward(const NetworkView<T>& network, Trace<T>& trace, ConstView<T> dlogits,
              View<T> dpatches = {}, const BackwardTaps<T>* taps = nullptr);

}  // namespace vit::gradient
