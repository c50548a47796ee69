/// A training run from its first step to its model file.
#pragma once

#include "tools/train/settings.h"
#include "vit/data/dataset.h"
#include "vit/gradient/network.h"

namespace vit::tools {

/// Trains `network` and leaves the best model, the log, the curves and the checkpoint
/// beside each other. The exit status.
int run_training(const TrainSettings& settings, gradient::Network<float> network,
                 const data::Dataset& dataset, ThreadPool& pool);

/// "1:02:03" or "2:03"
std::string clock_time(double seconds);

/// "0.1234", as model files have it
std::string fraction(double share);

/// "12.34 %"
std::string percent(double share);

}  // namespace vit::tools
