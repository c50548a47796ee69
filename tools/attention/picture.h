/// Maps and matrices as pictures.
#pragma once

#include <string>

#include "tools/attention/study.h"

namespace vit::tools {

/// The image, the map laid over it, a colour bar and a title; several maps: a labelled sheet.
Image draw_maps(const std::string& model, const Study& study, const MapSheet& sheet,
                const LookSettings& look);

/// Matrices with queries down and keys across, prefix tokens set apart by a line.
Image draw_matrices(const std::string& model, const Study& study,
                    const std::vector<std::vector<TokenMatrix>>& sheet, const LookSettings& look);

/// What stands above a picture: the answer, and what is shown.
struct Heading {
  std::string title;
  std::string detail;
};
constexpr size_t kHeadingHeight = 74;
/// At the top of the picture, between `margin` and its right end.
void draw_heading(Image& image, const Heading& heading, size_t margin);

/// "macaw 97.3%", or the model's name where it has no classifier.
std::string answer_text(const std::string& model, const Study& study);

/// Colours from 0 to the largest number below the percentile, of patches alone.
ColourScale scale_for(std::span<const float> patches, const LookSettings& look);
/// From the smallest number on where rollout, which leaves something to every patch, would be one
/// colour otherwise; else from 0.
ColourScale scale_for(std::span<const float> patches, const TokenMap& map,
                      const LookSettings& look);

}  // namespace vit::tools
