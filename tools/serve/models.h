/// The models that are served, by name. They can be replaced while requests run.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tools/cli/model_options.h"
#include "tools/serve/words.h"
#include "vit/gradient/network.h"
#include "vit/model/classifier.h"

namespace vit::tools::serve {

class ServedModel {
 public:
  ServedModel(std::string as, ModelSettings how, Classifier loaded);

  const std::string name;
  const Classifier classifier;

  /// Its own classes; 0 for a two-tower model, whose classes each request names.
  size_t classes() const { return two_towers_ ? 0 : classifier.config().head.classes; }
  /// Tokens merged after each layer.
  size_t merge_tokens() const { return settings_.classifier.merge_tokens; }
  /// Null if it reads no text.
  const Words* words() const { return words_.get(); }
  /// As words(). Throws a StatusError (422) that says why it reads none.
  const Words& need_words() const;
  const std::string& why_no_words() const { return no_words_; }

  /// For class relevance. Reads the weights once more when it is first needed.
  const gradient::Network<float>& network() const;

  /// This model with labels as its classes, as --labels makes it. Reads the weights again, unless
  /// these labels were the last. Throws a StatusError: as need_words(), or 400 for wrong labels.
  std::shared_ptr<const ServedModel> with_labels(const std::vector<text::WordLabel>& labels) const;

 private:
  ModelSettings settings_;
  bool two_towers_ = false;
  std::unique_ptr<const Words> words_;
  std::string no_words_;  ///< why it reads no text
  mutable std::once_flag once_;
  mutable std::unique_ptr<const gradient::Network<float>> network_;
  mutable std::mutex mutex_;
  mutable std::vector<text::WordLabel> last_labels_;
  mutable std::shared_ptr<const ServedModel> labelled_;
};

using ModelPtr = std::shared_ptr<const ServedModel>;
using ModelList = std::vector<ModelPtr>;

/// What a job of the queue holds: the classifier, and with it the whole model.
std::shared_ptr<const Classifier> classifier_of(const ModelPtr& model);

/// "NAME=MODEL", or a MODEL, which then has its own name.
struct ModelChoice {
  std::string name;  ///< empty: the model's own
  std::string model;
};
ModelChoice parse_model_choice(const std::string& text);

class Models {
 public:
  /// Loads them all. Throws an Error, also if two have the same name.
  Models(std::vector<ModelChoice> choices, ModelSettings settings);

  std::shared_ptr<const ModelList> list() const;
  /// An empty name means the first. Throws a StatusError (404).
  ModelPtr find(const std::string& name) const;
  /// Loads all again and then replaces all. Requests that run keep the models they have. Throws an
  /// Error and changes nothing if one cannot be loaded.
  void reload();

 private:
  std::vector<ModelChoice> choices_;
  ModelSettings settings_;
  mutable std::mutex mutex_;
  std::shared_ptr<const ModelList> list_;
};

}  // namespace vit::tools::serve
