#include "tools/serve/words.h"

#include <algorithm>

#include "tools/serve/inputs.h"
#include "tools/serve/status_error.h"
#include "vit/model/predictions.h"
#include "vit/model/word_classes.h"
#include "vit/text/prompts.h"

namespace vit::tools::serve {
namespace {

constexpr size_t kKeptLists = 16;

/// An array of texts, or one text.
std::vector<std::string> texts_of(const Json& json, const std::string& name) {
  if (json.is_string()) return {json.get<std::string>()};
  if (!json.is_array()) fail_request(400, "'", name, "' is ", json.type_name(), ", expected text");
  std::vector<std::string> texts;
  for (const Json& one : json) {
    if (!one.is_string())
      fail_request(400, "'", name, "' has ", one.type_name(), " in it, expected texts");
    texts.push_back(one.get<std::string>());
  }
  return texts;
}

/// Sentences, or the name of a set of them. Empty: the usual one of the model.
std::vector<std::string> read_templates(const Request& request, const Json& fields) {
  std::vector<std::string> given;
  for (const auto& [name, value] : request.query)
    if (name == "template") given.push_back(value);
  if (given.empty() && fields.contains("template"))
    given = texts_of(fields["template"], "template");
  std::vector<std::string> templates;
  for (const auto& one : given) {
    const auto set = text::template_set(one);
    if (set.empty() && one.find("{}") == one.npos)
      fail_request(400, "'template' is '", one, "', expected a sentence with {} in the place of ",
                   "the label, or one of ", text::template_set_names());
    templates.insert(templates.end(), set.begin(), set.end());
    if (set.empty()) templates.push_back(one);
  }
  return templates;
}

std::vector<text::WordLabel> parse_labels(const Request& request, const Json& fields,
                                          std::span<const std::string> templates) {
  if (const auto list = request.parameter("labels"))
    return text::parse_label_list(*list, templates, "labels");
  if (fields["labels"].is_string())
    return text::parse_label_list(fields["labels"].get<std::string>(), templates, "labels");
  std::vector<text::WordLabel> labels;
  for (const auto& name : texts_of(fields["labels"], "labels")) {
    labels.push_back({name, {}});
    for (const auto& sentence : templates)
      labels.back().prompts.push_back(text::fill_template(sentence, name));
  }
  text::check_labels(labels, "labels");
  return labels;
}

}  // namespace

TextFeature Words::feature(const std::string& text, const std::string& where) const {
  try {
    return encode_words(encoder_, text);
  } catch (const Error& error) {
    fail_request(400, where, ": ", error.what());
  }
}

WordsPtr Words::kept(const std::vector<text::WordLabel>& labels) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(last_, labels, [](const auto& one) { return one.first; });
  return found == last_.end() ? nullptr : found->second;
}

WordsPtr Words::classifier(std::vector<text::WordLabel> labels) const {
  set_usual_prompts(labels, encoder_.checkpoint.sigmoid);
  if (auto known = kept(labels)) return known;
  try {
    auto fresh = std::make_shared<const WordClassifier>(
        word_classifier(make_word_head(encoder_, labels), encoder_.tower.isa));
    const std::lock_guard lock(mutex_);
    last_.emplace_front(std::move(labels), fresh);
    if (last_.size() > kKeptLists) last_.pop_back();
    return fresh;
  } catch (const StatusError&) {
    throw;
  } catch (const Error& error) {
    fail_request(400, error.what());
  }
}

std::vector<text::WordLabel> read_labels(const Request& request, const Json& fields, size_t most) {
  if (!request.parameter("labels") && !fields.contains("labels")) return {};
  try {
    const auto templates = read_templates(request, fields);
    auto labels = parse_labels(request, fields, templates);
    const size_t prompts = std::max(templates.size(), size_t{1});
    if (labels.size() * prompts > most)
      fail_request(413, labels.size(), " labels with ", prompts, " templates each; at most ", most,
                   " texts are read in one request");
    return labels;
  } catch (const StatusError&) {
    throw;
  } catch (const Error& error) {
    fail_request(400, error.what());
  }
}

std::vector<Prediction> top_labels(const WordClassifier& words, std::span<const float> logits,
                                   size_t k) {
  const std::vector<float> probabilities = probabilities_of(logits, words.sigmoid);
  std::vector<Prediction> best;
  for (const size_t i : largest(probabilities, k))
    best.push_back({i, words.labels[i], probabilities[i]});
  return best;
}

}  // namespace vit::tools::serve
