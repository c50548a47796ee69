#include "tools/attention/explainer.h"

#include <algorithm>
#include <cctype>

#include "tools/cli/suggest.h"
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

std::vector<std::vector<float>> Explainer::explain(const Study& study, const Asked& asked) const {
  interpret::Explanation explanation(network_, study.patches);
  std::vector<std::vector<float>> found;
  for (const size_t target : asked.classes)
    found.push_back(explanation.relevance(
        target, {.query = asked.query, .fusion = asked.fusion, .first_layer = asked.first_layer}));
  for (const auto& tokens : found)
    if (!interpret::all_finite(tokens))
      fail(study.file, ": the relevance is NaN or infinite; the weights are damaged, or the ",
           "training diverged");
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
  std::vector<std::string> names;
  for (const auto& label : labels) names.push_back(lower(first_name(label)));
  const std::string meant = nearest(lower(text), names);
  fail("class '", text, "': ", classifier.name(),
       labels.empty() ? " names no classes, give a number" : " has no such label",
       meant.empty() ? "" : ", did you mean '" + meant + "'?");
}

}  // namespace vit::tools
