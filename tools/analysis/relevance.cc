#include "tools/analysis/relevance.h"

#include "vit/base/error.h"

namespace vit::tools {

std::vector<std::vector<float>> relevance_of(const gradient::Network<float>& network,
                                             const ImageAnalysis& analysis,
                                             std::span<const size_t> classes,
                                             const interpret::RelevanceOptions& options) {
  interpret::Explanation explanation(network, analysis.patches);
  std::vector<std::vector<float>> found;
  for (const size_t target : classes) found.push_back(explanation.relevance(target, options));
  for (const auto& tokens : found)
    if (!interpret::all_finite(tokens))
      fail_at(analysis.file, "the relevance is NaN or infinite; the weights are damaged, or the ",
              "training diverged");
  return found;
}

std::vector<ClassRelevance> relevance_of_answers(const Classifier& classifier,
                                                 const gradient::Network<float>& network,
                                                 const ImageAnalysis& analysis,
                                                 std::span<const Prediction> answers) {
  std::vector<size_t> classes;
  for (const Prediction& answer : answers) classes.push_back(answer.index);
  auto tokens = relevance_of(network, analysis, classes,
                             {.query = interpret::default_query(classifier.config())});
  std::vector<ClassRelevance> found;
  for (size_t i = 0; i < tokens.size(); ++i)
    found.push_back({answers[i].label, std::move(tokens[i])});
  return found;
}

}  // namespace vit::tools
