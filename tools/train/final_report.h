/// The report of vit eval on the validation images, for a trained model.
#pragma once

#include "tools/draw/canvas.h"
#include "tools/train/settings.h"
#include "vit/data/dataset.h"

namespace vit::tools {

/// Reads the model file that was written, runs it over the validation images as vit eval does,
/// prints the figures and writes the report to MODEL.eval/, with the training curves unless they
/// are empty.
void report_model(const TrainSettings& settings, const data::Dataset& dataset,
                  const Picture& curves);

}  // namespace vit::tools
