/// A training run from its first step to its model file.
#pragma once

#include "tools/train/settings.h"
#include "vit/data/dataset.h"
#include "vit/gradient/network.h"

namespace vit::tools {

/// Trains `network` and writes the best model, the log, the curves and the checkpoint.
/// Returns the exit status.
int run_training(const TrainSettings& settings, gradient::Network<float> network,
                 const data::Dataset& dataset, ThreadPool& pool);

}  // namespace vit::tools
