/// Training that starts from a model: a new classifier, or all of it.
#pragma once

#include "tools/train/settings.h"
#include "vit/model/model.h"
#include "weights/checkpoint.h"

namespace vit::tools {

int train_probe(const TrainSettings& settings, ThreadPool& pool);
int train_finetune(TrainSettings settings, ThreadPool& pool);

/// Reports what was read and what was skipped. `edge` is the longer one of the model's input.
data::Dataset read_data(const TrainSettings& settings, size_t edge, ThreadPool& pool);

// Shared by probes and fine-tuning.

/// Says if images smaller than the input are shown whole.
void show_whole(const data::Dataset& dataset, Recipe& recipe);
std::vector<size_t> labels_of(const std::vector<data::Sample>& samples);
/// The model with a new classifier at the end of this pooling.
gradient::Network<float> adapted_network(weights::Checkpoint checkpoint, Pooling pooling,
                                         size_t classes, std::uint64_t seed);
/// The longer one.
size_t input_edge(const weights::Checkpoint& checkpoint);
/// Of every sample, with progress named `what`.
Matrix features_of(const Model& model, const Recipe& recipe,
                   const std::vector<data::Sample>& samples, const char* what, ThreadPool& pool);

}  // namespace vit::tools
