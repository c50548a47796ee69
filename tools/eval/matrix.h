/// The confusion matrix of many classes, which can be zoomed.
#pragma once

#include <string>

#include "tools/eval/report.h"

namespace vit::tools {

/// The names of more classes do not fit into a picture.
constexpr size_t kMostInPicture = 40;

/// A canvas with its data and script.
std::string matrix_html(const EvaluationReport& report);

}  // namespace vit::tools
