/// A training run from its first step to its model file.
#pragma once

#include <functional>
#include <optional>

#include "tools/train/settings.h"
#include "vit/data/dataset.h"
#include "vit/gradient/network.h"

namespace vit::tools {

/// What a run trains, its data, and how it starts.
struct RunInput {
  data::Dataset dataset;
  std::uint64_t data_fingerprint = 0;
  Recipe recipe;
  std::optional<train::Teaching> teaching;
  gradient::Network<float> network;
  /// Changes the initial weights of a new run; not called for a resumed one. May be empty.
  std::function<void(const data::Dataset&, gradient::Network<float>&)> start{};

  train::BatchSource source() const { return {dataset, recipe, teaching ? &*teaching : nullptr}; }
  void start_network() {
    if (start) start(dataset, network);
  }
};

/// Trains, and writes the best model, the log, the curves and the checkpoint. Returns the exit
/// status.
int run_training(const TrainSettings& settings, RunInput input, ThreadPool& pool);

}  // namespace vit::tools
