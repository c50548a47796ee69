/// The confusion matrix of many classes, to zoom into.
#pragma once

#include <string>

#include "tools/eval/report.h"

namespace vit::tools {

/// Beyond this many classes their names have no room in a picture.
constexpr size_t kMostInPicture = 40;

/// A canvas with its data and script.
std::string matrix_html(const EvaluationReport& report);

}  // namespace vit::tools
