/// The images of a training run, as read from the disk and as a model sees them.
#pragma once

#include "tools/train/settings.h"
#include "vit/data/dataset.h"
#include "vit/model/model.h"

namespace vit::tools {

/// Reads the data and reports what was read and skipped. `edge`: the longer edge of the model's
/// input.
data::Dataset read_data(const TrainSettings& settings, size_t edge, ThreadPool& pool);

/// The longer edge of what a recipe makes.
size_t input_edge(const Recipe& recipe);

/// If the images are smaller than the input, makes the recipe use them as a whole, and says so.
void show_whole(const data::Dataset& dataset, Recipe& recipe);

/// What a probe of this model reads of every sample, with progress named `what`.
Matrix features_of(const Model& model, const Recipe& recipe,
                   const std::vector<data::Sample>& samples, const char* what, ThreadPool& pool);

}  // namespace vit::tools
