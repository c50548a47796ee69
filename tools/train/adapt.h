/// Training that starts from a model: of a new classifier alone, or of all weights.
#pragma once

#include "tools/train/settings.h"
#include "vit/model/model.h"
#include "weights/checkpoint.h"

namespace vit::tools {

int train_probe(const TrainSettings& settings, ThreadPool& pool);
int train_finetune(TrainSettings settings, ThreadPool& pool);

/// Reads the data and reports what was read and skipped. `edge`: the longer edge of the model's
/// input.
data::Dataset read_data(const TrainSettings& settings, size_t edge, ThreadPool& pool);

// Shared by probes and fine-tuning.

/// If the images are smaller than the input, makes the recipe use them as a whole, and says so.
void show_whole(const data::Dataset& dataset, Recipe& recipe);
std::vector<size_t> labels_of(const std::vector<data::Sample>& samples);
/// The model with this pooling and a new classifier.
gradient::Network<float> adapted_network(weights::Checkpoint checkpoint, Pooling pooling,
                                         size_t classes, std::uint64_t seed);
/// The longer edge of the input.
size_t input_edge(const weights::Checkpoint& checkpoint);
/// The features of every sample; progress is shown as `what`.
Matrix features_of(const Model& model, const Recipe& recipe,
                   const std::vector<data::Sample>& samples, const char* what, ThreadPool& pool);

}  // namespace vit::tools
