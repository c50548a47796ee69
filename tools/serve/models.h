/// The models that are served, by name. They can be replaced while requests run.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tools/attention/explainer.h"
#include "tools/cli/model_options.h"
#include "vit/model/classifier.h"

namespace vit::tools::serve {

class ServedModel {
 public:
  ServedModel(std::string as, ModelSettings how, Classifier loaded)
      : name(std::move(as)), classifier(std::move(loaded)), settings_(std::move(how)) {}

  const std::string name;
  const Classifier classifier;

  /// Reads the weights once more when it is first needed.
  const Explainer& explainer() const;

 private:
  ModelSettings settings_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<const Explainer> explainer_;
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
  /// Loads them all. Throws an Error, also where two have the same name.
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
