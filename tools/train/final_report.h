/// The report of vit eval on the validation images, for a trained model.
#pragma once

#include "tools/train/settings.h"
#include "vit/data/dataset.h"

namespace vit::tools {

/// Reads the model file that was written, runs it over the validation images as vit eval would,
/// prints the figures and writes the report to MODEL.eval/.
void report_model(const TrainSettings& settings, const data::Dataset& dataset);

}  // namespace vit::tools
