/// Maps and matrices as numbers: .npy and .json.
#pragma once

#include <string>
#include <vector>

#include "tools/analysis/maps.h"

namespace vit::tools {

/// [rows, cols] of the patch grid for one map, [layers, heads, rows, cols] for a sheet.
std::string maps_npy(const ImageAnalysis& analysis, const MapSheet& sheet);
/// [T, T], or [layers, heads, T, T].
std::string matrices_npy(const std::vector<std::vector<TokenMatrix>>& sheet);

/// Names, sizes, answers, and for each map its prefix tokens and its patches row by row.
std::string maps_json(const std::string& model, const ImageAnalysis& analysis,
                      const MapSheet& sheet);
std::string matrices_json(const std::string& model, const ImageAnalysis& analysis,
                          const std::vector<std::vector<TokenMatrix>>& sheet);

}  // namespace vit::tools
