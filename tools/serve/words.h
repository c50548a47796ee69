/// Texts in requests to two-tower models: their features, and labels in words as classes.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tools/output/json.h"
#include "tools/serve/http/message.h"
#include "vit/model/classifier.h"
#include "vit/model/word_encoder.h"

namespace vit::tools::serve {

using WordsPtr = std::shared_ptr<const WordClassifier>;

/// The text side of a model. Functions may be called by any thread.
class Words {
 public:
  explicit Words(WordEncoder encoder) : encoder_(std::move(encoder)) {}

  /// Throws a StatusError (400) whose message begins with `where`.
  TextFeature feature(const std::string& text, const std::string& where) const;

  /// The classifier of labels; those without prompts get the usual one of this model. The last
  /// ones are kept, because the page asks again after each typed key, and because many images use
  /// the same labels. Throws a StatusError (400).
  WordsPtr classifier(std::vector<text::WordLabel> labels) const;

 private:
  WordsPtr kept(const std::vector<text::WordLabel>& labels) const;

  WordEncoder encoder_;
  mutable std::mutex mutex_;
  mutable std::deque<std::pair<std::vector<text::WordLabel>, WordsPtr>> last_;
};

/// The settings `labels` and `template` of a request: "a cat, a dog", or arrays in JSON. Empty
/// if there are none; without a template, labels have no prompts. Throws a StatusError: 400, or
/// 413 for more than `most` texts.
std::vector<text::WordLabel> read_labels(const Request& request, const Json& fields, size_t most);

/// The `k` most probable labels, from word_logits(), best first; ties in the order of the labels.
std::vector<Prediction> top_labels(const WordClassifier& words, std::span<const float> logits,
                                   size_t k);

}  // namespace vit::tools::serve
