#include "tools/attention/explainer.h"

#include <algorithm>
#include <cctype>

#include "tools/cli/class_names.h"
#include "vit/base/error.h"
#include "vit/base/text.h"
#include "vit/interpret/relevance.h"

namespace vit::tools {
namespace {

/// "tench" of "tench, Tinca tinca".
std::string_view first_name(std::string_view label) {
  return label.substr(0, label.find(','));
}

}  // namespace

Explainer::Explainer(const ModelSettings& settings, const Classifier& classifier)
    : network_(load_network(settings, classifier)) {}

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
      fail(analysis.file, ": the relevance is NaN or infinite; the weights are damaged, or the ",
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

size_t find_class(const Classifier& classifier, const std::string& text) {
  const size_t classes = classifier.config().head.classes;
  if (text.find_first_not_of("0123456789") == text.npos && !text.empty()) {
    const size_t number = to_number<size_t>(text).value_or(classes);
    if (number >= classes)
      fail("class ", text, ": ", classifier.name(), " has classes 0 to ", classes - 1);
    return number;
  }
  const auto& labels = classifier.labels();
  for (size_t i = 0; i < labels.size(); ++i)
    if (lower(labels[i]) == lower(text) || lower(first_name(labels[i])) == lower(text)) return i;
  fail("class '", text, "': ", classifier.name(),
       labels.empty() ? " names no classes, give a number" : " has no such label",
       class_names(classifier).suggestion(text));
}

std::vector<size_t> find_classes(const Classifier& classifier,
                                 const std::vector<std::string>& texts) {
  std::vector<size_t> classes;
  for (const auto& text : texts) {
    const size_t found = find_class(classifier, text);
    if (std::ranges::find(classes, found) == classes.end()) classes.push_back(found);
  }
  return classes;
}

}  // namespace vit::tools
