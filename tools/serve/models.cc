#include "tools/serve/models.h"

#include <algorithm>
#include <filesystem>

#include "tools/cli/pull_advice.h"
#include "tools/serve/status_error.h"
#include "vit/gradient/network.h"
#include "vit/model/word_classes.h"

namespace vit::tools::serve {
namespace {

std::shared_ptr<const ModelList> load_all(const std::vector<ModelChoice>& choices,
                                          const ModelSettings& settings) {
  auto list = std::make_shared<ModelList>();
  for (const auto& [name, model] : choices) {
    ModelSettings own = settings;
    own.model = model;
    Classifier classifier = load_classifier(own);
    const std::string shown = name.empty() ? classifier.name() : name;
    if (std::ranges::any_of(*list, [&](const ModelPtr& other) { return other->name == shown; }))
      fail("two models are called '", shown, "'; give one of them another name with -m NAME=MODEL");
    list->push_back(std::make_shared<ServedModel>(shown, std::move(own), std::move(classifier)));
  }
  return list;
}

}  // namespace

ServedModel::ServedModel(std::string as, ModelSettings how, Classifier loaded)
    : name(std::move(as)), classifier(std::move(loaded)), settings_(std::move(how)) {
  no_words_ = name + " has classes of its own and reads no text";
  if (!classifier.labels().empty()) return;
  try {
    auto checkpoint = weights::open_text(classifier.path());
    two_towers_ = true;
    words_ = std::make_unique<const Words>(
        load_word_encoder(std::move(checkpoint), known_clip_vocabularies()));
  } catch (const Error& error) {  // images can still be answered
    no_words_ = message_of(error);
  }
}

const Words& ServedModel::need_words() const {
  if (words_ == nullptr) fail_request(422, no_words_);
  return *words_;
}

const gradient::Network<float>& ServedModel::network() const {
  std::call_once(once_, [&] {
    network_ = std::make_unique<const gradient::Network<float>>(
        gradient::load_network<float>(open_model(settings_)));
  });
  return *network_;
}

std::shared_ptr<const ServedModel> ServedModel::with_labels(
    const std::vector<text::WordLabel>& labels) const {
  need_words();
  const std::lock_guard lock(mutex_);
  if (labelled_ != nullptr && labels == last_labels_) return labelled_;
  ModelSettings own = settings_;
  own.quiet = true;
  own.classifier.threads = 1;
  own.classifier.words = WordClasses{.labels = labels};
  try {
    Classifier loaded = load_classifier(own);
    labelled_ = std::make_shared<const ServedModel>(name, std::move(own), std::move(loaded));
    last_labels_ = labels;
  } catch (const Error& error) {
    fail_request(400, message_of(error));
  }
  return labelled_;
}

std::shared_ptr<const Classifier> classifier_of(const ModelPtr& model) {
  return {model, &model->classifier};
}

ModelChoice parse_model_choice(const std::string& text) {
  const size_t equals = text.find('=');
  std::error_code ignored;
  const bool named = equals != text.npos && equals != 0 && text.find('/') > equals &&
                     !std::filesystem::exists(text, ignored);
  if (!named) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Models::Models(std::vector<ModelChoice> choices, ModelSettings settings)
    : choices_(std::move(choices)),
      settings_(std::move(settings)),
      list_(load_all(choices_, settings_)) {
  settings_.quiet = true;  // the note is written once
}

std::shared_ptr<const ModelList> Models::list() const {
  const std::lock_guard lock(mutex_);
  return list_;
}

ModelPtr Models::find(const std::string& name) const {
  const auto models = list();
  if (name.empty()) return models->front();
  const auto found = std::ranges::find(*models, name, [](const ModelPtr& m) { return m->name; });
  if (found != models->end()) return *found;
  std::string names;
  for (const ModelPtr& model : *models) names += (names.empty() ? "" : ", ") + model->name;
  fail_request(404, "there is no model '", name, "'; this server has ", names);
}

void Models::reload() {
  auto fresh = load_all(choices_, settings_);
  const std::lock_guard lock(mutex_);
  list_.swap(fresh);
}

}  // namespace vit::tools::serve
