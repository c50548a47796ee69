/// Several trainings of one model as one.
#pragma once

#include <vector>

#include "weights/checkpoint.h"

namespace vit::weights {

/// The first checkpoint, with each number the mean of all of them, as f32. If all continue the
/// training of the same weights, the mean is often more accurate than each of them. Throws an Error
/// if their tensors, shapes, labels or configurations differ.
Checkpoint mean_of(std::vector<Checkpoint> checkpoints);

}  // namespace vit::weights
