/// One image run through the model, with its attention.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/cli/model_options.h"
#include "vit/interpret/attention_maps.h"
#include "vit/interpret/query.h"
#include "vit/model/classifier.h"

namespace vit::tools {

struct ImageAnalysis {
  std::string file;
  interpret::ImageSize size;  ///< of the image in the file
  Image view;                 ///< the part that the model saw, enlarged
  Matrix patches;             ///< [N, 3·P·P], the input of the model
  interpret::AttentionMaps maps;
  std::vector<Prediction> predictions;  ///< the five first; none without a classifier
};

/// The grid's part of the recipe's crop, made from the original image at a whole multiple of the
/// model's own resolution, so that patches keep whole pixels.
Image model_view(const Image& image, const Recipe& recipe, const ModelConfig& config);

/// Analyzes an image that is already decoded.
ImageAnalysis analyze_decoded(const Classifier& classifier, Runner& runner, const std::string& name,
                              const Image& image);
ImageAnalysis analyze_image(const Classifier& classifier, const std::string& file,
                            const patch::DecodeOptions& options);

/// Makes these classes the predictions, the most probable one first.
void keep_classes(const Classifier& classifier, std::span<const size_t> classes,
                  ImageAnalysis& analysis);

/// "macaw 97.3%", or the model's name if it has no classifier.
std::string answer_text(const std::string& model, const ImageAnalysis& analysis);

}  // namespace vit::tools
