/// Looks at a run without training: its augmented images, and the loss at different rates.
#pragma once

#include "tools/train/run.h"

namespace vit::tools {

/// A PNG with images as validation sees them, each beside its augmented versions of the first
/// epochs.
int write_preview(const TrainSettings& settings, const RunInput& input, ThreadPool& pool);

/// Steps at growing rates until the loss rises; suggests a rate. Writes no file.
int find_rate(const TrainSettings& settings, RunInput input, ThreadPool& pool);

}  // namespace vit::tools
