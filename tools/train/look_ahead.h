/// What a run would do, without training: its augmented images, and how the loss reacts to rates.
#pragma once

#include "tools/train/run.h"

namespace vit::tools {

/// A PNG with images as validation sees them, and beside each what the first epochs make of it.
int write_preview(const TrainSettings& settings, const RunInput& input, ThreadPool& pool);

/// Steps at growing rates until the loss rises; suggests a rate. Writes no file.
int find_rate(const TrainSettings& settings, RunInput input, ThreadPool& pool);

}  // namespace vit::tools
