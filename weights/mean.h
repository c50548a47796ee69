/// Several trainings of one model as one.
#pragma once

#include <vector>

#include "weights/checkpoint.h"

namespace vit::weights {

/// The first checkpoint, with each number the mean of all of them, as f32. Models that were trained
/// on from the same weights are often better so than any of them alone. Throws an Error if they
/// have other tensors, shapes or labels.
Checkpoint mean_of(std::vector<Checkpoint> checkpoints);

}  // namespace vit::weights
