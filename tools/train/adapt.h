/// Training that starts from a model: a new classifier, or all of it.
#pragma once

#include "tools/train/settings.h"

namespace vit::tools {

int train_probe(const TrainSettings& settings, ThreadPool& pool);
int train_finetune(TrainSettings settings, ThreadPool& pool);

/// Reports what was read and what was skipped. `edge` is the longer one of the model's input.
data::Dataset read_data(const TrainSettings& settings, size_t edge, ThreadPool& pool);

}  // namespace vit::tools
