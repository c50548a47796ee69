/// A training run from its first step to its model file.
#pragma once

#include <functional>

#include "tools/train/settings.h"
#include "vit/data/dataset.h"
#include "vit/gradient/network.h"

namespace vit::tools {

/// The data of a run, and how it starts.
struct RunInput {
  const data::Dataset& dataset;
  /// Changes the initial weights of a new run; not called for a resumed one. May be empty.
  std::function<void(gradient::Network<float>&)> start{};
};

/// Trains `network` and writes the best model, the log, the curves and the checkpoint.
/// Returns the exit status.
int run_training(const TrainSettings& settings, gradient::Network<float> network,
                 const RunInput& input, ThreadPool& pool);

}  // namespace vit::tools
