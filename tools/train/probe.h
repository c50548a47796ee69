/// A probe: a new classifier on the features of a model, which stays as it is.
#pragma once

#include "tools/train/settings.h"

namespace vit::tools {

/// Returns the exit status.
int train_probe(const TrainSettings& settings, ThreadPool& pool);

}  // namespace vit::tools
