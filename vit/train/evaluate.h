/// A network on images as inference sees them, many at a time: the answers, and how good they are.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "patch/recipe.h"
#include "vit/data/dataset.h"
#include "vit/gradient/network.h"

namespace vit::train {

/// Images that run through the network together: enough rows to make products efficient, few enough
/// for a layer's activations to stay in the second-level cache.
size_t images_at_once(size_t tokens, Operands operands);

/// Images and what is done with a model's answers to them. Both functions are called by several
/// threads.
struct Questions {
  size_t count = 0;
  /// An image that exists, or that is made in `memory`.
  std::function<const patch::Image&(size_t, patch::Image& memory)> image;
  /// The logits of neighbouring images from `first` on, a row each.
  std::function<void(size_t first, ConstMatrixView logits)> answers;
  const std::atomic<bool>* stop = nullptr;  ///< looked at between small groups of images
};
/// False: stopped, with some images unanswered.
bool answer_questions(const gradient::NetworkView<float>& network, const Recipe& recipe,
                      const Questions& questions, ThreadPool* pool);

/// How good a model is.
struct Score {
  double loss = 0.0;
  double accuracy = 0.0;
  std::vector<size_t> predictions;  ///< one per sample
  bool stopped = false;             ///< `stop` came first: the figures are of no use
};
/// `stop` is looked at between small groups of images.
Score evaluate(const gradient::NetworkView<float>& network,
               const std::vector<data::Sample>& samples, const Recipe& recipe, ThreadPool* pool,
               const std::atomic<bool>* stop = nullptr);

}  // namespace vit::train
