/// Training from scratch: a new model, for the images of the data.
#pragma once

#include "tools/train/run.h"

namespace vit::tools {

/// `settings` must outlive the run.
RunInput new_run(const TrainSettings& settings, ThreadPool& pool);

}  // namespace vit::tools
