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
  std::vector<float> probabilities;     ///< of all classes; none without a classifier
  std::vector<Prediction> predictions;  ///< the five first
};

/// The grid's part of the recipe's crop, made from the original image at a whole multiple of the
/// model's own resolution, so that patches keep whole pixels.
Image model_view(const Image& image, const Recipe& recipe, const ModelConfig& config);

/// Analyzes an image that is already decoded.
ImageAnalysis analyze_decoded(const Classifier& classifier, Runner& runner, const std::string& name,
                              const Image& image);
ImageAnalysis analyze_image(const Classifier& classifier, const std::string& file,
                            const patch::DecodeOptions& options);

/// The predictions of these classes, the most probable one first.
std::vector<Prediction> predictions_among(std::span<const size_t> classes,
                                          const Classifier& classifier,
                                          const ImageAnalysis& analysis);

/// The first of the answers, "macaw  97.3 %"; "FILE: features of MODEL" if there are none.
std::string answer_text(const std::string& model, const ImageAnalysis& analysis,
                        std::span<const Prediction> answers);
/// Of the model's own answers.
std::string answer_text(const std::string& model, const ImageAnalysis& analysis);

}  // namespace vit::tools
