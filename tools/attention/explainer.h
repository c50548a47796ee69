/// Class relevance for the pictures and pages: the model once more, as one that can be
/// differentiated.
#pragma once

#include <string>
#include <vector>

#include "tools/attention/maps.h"
#include "tools/cli/gradient_model.h"

namespace vit::tools {

class Explainer {
 public:
  /// Reads the weights again, in the layout of the backward pass.
  Explainer(const ModelSettings& settings, const Classifier& classifier);

  struct Asked {
    std::vector<size_t> classes{};
    interpret::Query query{};
    interpret::HeadFusion fusion = interpret::HeadFusion::kMean;
    size_t first_layer = 0;
  };
  /// A weight per token, for each class asked.
  std::vector<std::vector<float>> explain(const Study& study, const Asked& asked) const;

  const gradient::Network<float>& network() const { return network_; }

 private:
  gradient::Network<float> network_;
};

/// A class by its number, its label, or the first name in it ("tench" of "tench, Tinca tinca").
/// Throws an Error with the nearest label if there is none.
size_t find_class(const Classifier& classifier, const std::string& text);

}  // namespace vit::tools
