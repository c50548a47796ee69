/// Fine-tuning: training of a model's weights, or of low-rank changes of them, continues.
#pragma once

#include "tools/train/run.h"

namespace vit::tools {

/// `settings` and `pool` must outlive the run.
RunInput adapting_run(const TrainSettings& settings, ThreadPool& pool);

}  // namespace vit::tools
