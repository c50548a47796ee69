#include "tools/attention/explainer.h"

#include <algorithm>

#include "tools/cli/class_names.h"
#include "vit/base/error.h"
#include "vit/interpret/relevance.h"

namespace vit::tools {

std::vector<std::vector<float>> Explainer::explain(const ImageAnalysis& analysis,
                                                   const Request& request) const {
  interpret::Explanation explanation(network_, analysis.patches);
  std::vector<std::vector<float>> found;
  for (const size_t target : request.classes)
    found.push_back(explanation.relevance(
        target,
        {.query = request.query, .fusion = request.fusion, .first_layer = request.first_layer}));
  for (const auto& tokens : found)
    if (!interpret::all_finite(tokens))
      fail_at(analysis.file, "the relevance is NaN or infinite; the weights are damaged, or the ",
              "training diverged");
  return found;
}

std::vector<ClassRelevance> relevance_of_answers(const Classifier& classifier,
                                                 const Explainer& explainer,
                                                 const ImageAnalysis& analysis) {
  std::vector<size_t> classes;
  for (const Prediction& p : analysis.predictions) classes.push_back(p.index);
  const auto query = interpret::default_query(classifier.config());
  auto tokens = explainer.explain(analysis, {.classes = classes, .query = query});
  std::vector<ClassRelevance> found;
  for (size_t i = 0; i < tokens.size(); ++i)
    found.push_back({analysis.predictions[i].label, std::move(tokens[i])});
  return found;
}

std::vector<size_t> find_classes(const Classifier& classifier,
                                 const std::vector<std::string>& texts) {
  if (texts.empty()) return {};
  const ClassNames names = class_names(classifier);
  if (names.classes() == 0) fail(names.model(), " has no classes, its output is features");
  std::vector<size_t> classes;
  for (const auto& text : texts) {
    const auto found = names.find(text);
    if (!found) fail(names.explain(text));
    if (std::ranges::find(classes, *found) == classes.end()) classes.push_back(*found);
  }
  return classes;
}

}  // namespace vit::tools
