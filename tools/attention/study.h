/// One image, run through the model with its attention kept, and the maps that were asked for.
#pragma once

#include <string>
#include <vector>

#include "tools/attention/settings.h"
#include "vit/interpret/attention_maps.h"
#include "vit/model/classifier.h"

namespace vit::tools {

struct Study {
  std::string file;
  interpret::ImageSize size;  ///< of the image in the file
  Image view;                 ///< what the model saw of it, enlarged
  Matrix patches;             ///< [N, 3·P·P], what enters the model
  interpret::AttentionMaps maps;
  std::vector<Prediction> predictions;  ///< the five first; none without a classifier
};

/// The grid's part of the recipe's crop, made from the original image at a whole multiple of the
/// model's own resolution, so that patches keep whole pixels.
Image model_view(const Image& image, const Recipe& recipe, const ModelConfig& config);

/// Throws an Error if the attention matrices of one image, layers x heads x tokens², are more than
/// a machine should be asked to hold.
void check_attention_size(const Classifier& classifier);

Study study_image(const Classifier& classifier, const std::string& file,
                  const patch::DecodeOptions& options);

/// A weight per token, and what it is.
struct TokenMap {
  std::string layer;  ///< "layer 11", "pool", "rollout", "relevance"
  std::string head;   ///< "head 2", "mean of 3 heads"
  std::vector<float> tokens;
};

/// The maps of one image, in rows: a row per layer, a column per head.
struct MapSheet {
  interpret::Query query;
  std::vector<std::vector<TokenMap>> rows;
};

class Explainer;

/// Throws an Error naming layers, heads or tokens that there are where one is asked for that is
/// not. Only relevance needs the explainer.
MapSheet make_maps(const Classifier& classifier, const Study& study, const MapSettings& settings,
                   const Explainer* explainer);

/// Whole matrices [T, T], chosen in the same way.
struct TokenMatrix {
  std::string layer;
  std::string head;
  Matrix weights;
};
std::vector<std::vector<TokenMatrix>> make_matrices(const Study& study,
                                                    const MapSettings& settings);

}  // namespace vit::tools
