/// Class relevance for the pictures and pages: a second copy of the model, with a backward pass.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/attention/maps.h"
#include "tools/cli/gradient_model.h"
#include "tools/explorer/page.h"

namespace vit::tools {

class Explainer {
 public:
  explicit Explainer(gradient::Network<float> network) : network_(std::move(network)) {}

  struct Request {
    std::vector<size_t> classes{};
    interpret::Query query{};
    interpret::HeadFusion fusion = interpret::HeadFusion::kMean;
    size_t first_layer = 0;
  };
  /// A weight per token, for each class of the request.
  std::vector<std::vector<float>> explain(const ImageAnalysis& analysis,
                                          const Request& request) const;

  const gradient::Network<float>& network() const { return network_; }

 private:
  gradient::Network<float> network_;
};

/// The relevance of each of the first answers.
std::vector<ClassRelevance> relevance_of_answers(const Classifier& classifier,
                                                 const Explainer& explainer,
                                                 const ImageAnalysis& analysis);

/// The classes that ClassNames::find() finds by these texts, each once. Throws an Error with the
/// nearest name if there is none.
std::vector<size_t> find_classes(const Classifier& classifier,
                                 const std::vector<std::string>& texts);

}  // namespace vit::tools
