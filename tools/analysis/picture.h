/// Maps and matrices as pictures.
#pragma once

#include <string>

#include "tools/analysis/maps.h"
#include "tools/draw/heading.h"

namespace vit::tools {

/// The image, the map laid over it, a colour bar and a title; several maps: a labelled sheet.
Picture draw_maps(const std::string& model, const ImageAnalysis& analysis, const MapSheet& sheet,
                  const LookSettings& look);

/// Matrices with queries down and keys across, prefix tokens set apart by a line.
Picture draw_matrices(const std::string& model, const ImageAnalysis& analysis,
                      const std::vector<std::vector<TokenMatrix>>& sheet, const LookSettings& look);

/// Colours from 0 to the percentile of the patches (prefix tokens do not count).
ColourScale scale_for(std::span<const float> patches, const LookSettings& look);
/// The same, but for rollout from the smallest number: it gives some weight to every patch.
ColourScale scale_for(std::span<const float> patches, MapMethod method, const LookSettings& look);

}  // namespace vit::tools
