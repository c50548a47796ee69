/// What a freshly trained model is worth: the report of vit eval on the images it was not shown.
#pragma once

#include "tools/train/settings.h"
#include "vit/data/dataset.h"

namespace vit::tools {

/// Reads the model file that was written, runs it over the validation images as vit eval would,
/// prints the figures and leaves the report in MODEL.eval/.
void report_model(const TrainSettings& settings, const data::Dataset& dataset);

}  // namespace vit::tools
