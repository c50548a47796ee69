#include "vit/model/word_classes.h"

#include <algorithm>
#include <cmath>

#include "vit/base/error.h"
#include "vit/base/thread_pool.h"
#include "vit/model/word_head.h"
#include "weights/store.h"

namespace vit {
namespace {

using weights::Checkpoint;

/// The logit at which "none of these" and a label are equal.
float none_logit(const WordHead& head, double threshold, const std::string& where) {
  const double least = head.sigmoid ? 0.0 : -1.0;
  if (!(threshold > least && threshold < 1.0))
    fail_at(where, "the threshold of '", kNoneOfThese, "' is ", threshold, ", expected ",
            head.sigmoid ? "a probability between 0 and 1: this model's labels are independent"
                         : "a cosine between -1 and 1, of image and text");
  const double logit = head.sigmoid ? std::log(threshold / (1.0 - threshold))
                                    : double{head.scale} * threshold + double{head.bias};
  return static_cast<float>(logit);
}

/// What projects to the shared space is stored as a head.
void head_to_projection(Checkpoint& image) {
  HeadConfig& head = image.config.head;
  if (head.classes == 0) return;
  if (head.pre_logits != 0 || head.distilled_head)
    fail_at(image.path, "its head is not a projection to a space shared with texts");
  head.pre_logits = head.classes;
  head.pre_logits_tanh = false;
  head.pre_logits_bias = head.head_bias;
  head.classes = 0;
  for (const auto* part : {"weight", "bias"})
    if (auto weight = image.take(std::string("head.") + part))
      image.add(std::string("pre_logits.") + part, std::move(*weight));
}

/// A model without a text tower gets other names for its own classes.
void name_classes(Checkpoint& image, const WordClasses& words) {
  const size_t classes = image.config.head.classes, given = words.labels.size();
  const bool only_names =
      !words.none_of_these &&
      std::ranges::all_of(words.labels, [](const auto& label) { return label.prompts.empty(); });
  if (classes == 0 || given != classes || !only_names)
    fail_at(image.path, "this model has no text tower; labels in words need a two-tower model, ",
            "such as CLIP or SigLIP",
            classes == 0
                ? std::string()
                : "; as other names of its " + std::to_string(classes) +
                      " classes, expected as many labels, in their order, without prompts, "
                      "got " +
                      std::to_string(given));
  image.labels.clear();
  for (const auto& label : words.labels) image.labels.push_back(label.name);
  image.wordnet_ids.clear();
}

/// Empty where there is no cache folder.
std::filesystem::path head_cache() {
  try {
    return weights::cache_folder() / "words";
  } catch (const Error&) {
    return {};
  }
}

/// The head becomes the classifier of the image tower: projection to the shared space, length 1,
/// one row per label.
void set_head(Checkpoint& image, const WordHead& head, std::optional<double> none_of_these) {
  if (image.config.outputs() != head.rows.cols())
    fail_at(image.path, "the image tower has ", image.config.outputs(),
            " features, the text tower ", head.rows.cols(), "; expected equal ones");
  head_to_projection(image);
  const size_t labels = head.rows.rows(), features = head.rows.cols();
  const size_t classes = labels + (none_of_these ? 1 : 0);
  std::vector<float> rows(classes * features), bias(classes, head.bias);
  const Matrix scaled = scaled_rows(head);
  std::copy_n(scaled.data(), scaled.size(), rows.begin());
  if (none_of_these) bias.back() = none_logit(head, *none_of_these, image.path);

  HeadConfig& config = image.config.head;
  config.unit_features = true;
  config.classes = classes;
  config.multi_label = head.sigmoid;
  config.head_bias = std::ranges::any_of(bias, [](float b) { return b != 0.0f; });
  image.labels = head.labels;
  if (none_of_these) image.labels.emplace_back(kNoneOfThese);
  image.add_numbers("head.weight", {classes, features}, std::move(rows));
  if (config.head_bias) image.add_numbers("head.bias", {classes}, std::move(bias));
}

/// The sentence for a label, where nothing else is said.
std::string usual_prompt(const std::string& label, bool sigmoid) {
  std::string lower = label.substr(0, 4);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const bool article =
      lower.starts_with("a ") || lower.starts_with("an ") || lower.starts_with("the ");
  if (sigmoid) return "This is a photo of " + label + ".";
  return (article ? "a photo of " : "a photo of a ") + label + ".";
}

}  // namespace

std::vector<std::filesystem::path> known_clip_vocabularies() {
  try {
    return {weights::clip_vocabulary_file()};
  } catch (const Error&) {
    return {};  // no cache folder
  }
}

void set_usual_prompts(std::vector<text::WordLabel>& labels, bool sigmoid) {
  for (auto& label : labels)
    if (label.prompts.empty()) label.prompts.push_back(usual_prompt(label.name, sigmoid));
}

void set_classes(Checkpoint& model, const WordClasses& words, size_t threads) {
  if (!model.text_tower) return name_classes(model, words);
  const weights::TextCheckpoint text = weights::open_text(model.path);
  std::vector<text::WordLabel> labels = words.labels;
  set_usual_prompts(labels, text.sigmoid);
  ThreadPool pool(threads);
  const auto vocabularies = known_clip_vocabularies();
  const WordHead head = make_word_head(text, labels,
                                       {.pool = &pool,
                                        .clip_vocabularies = vocabularies,
                                        .cache = head_cache(),
                                        .progress = words.progress});
  if (words.truncated)
    for (const auto& prompt : head.truncated) words.truncated(prompt, text.config.context);
  set_head(model, head, words.none_of_these);
}

void set_features_as_output(Checkpoint& model) {
  if (model.text_tower && model.labels.empty()) head_to_projection(model);
}

}  // namespace vit
