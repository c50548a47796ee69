/// What a model's tensors tell about it.
#pragma once

#include <string>

#include "vit/base/config.h"
#include "vit/base/text_config.h"
#include "weights/layouts/layout.h"

namespace vit::weights {

/// Everything that names and shapes say; `heads` is 0 where they do not say it. Throws an Error
/// naming the tensor that is missing or has an impossible shape.
ModelConfig infer_config(const Interpretation& found, const std::string& where);

/// The same of a text tower, under its own names; what only a config says is left as it is.
TextConfig infer_text_config(const WeightMap& weights, const std::string& where);

/// The grid of a stored position table: the one that it is stored as, else `expected` if its size
/// is the table's, else the square one.
GridSize position_grid_of(const WeightMap& weights, const ModelConfig& config, GridSize expected,
                          const std::string& where);

}  // namespace vit::weights
