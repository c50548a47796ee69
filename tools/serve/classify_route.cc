/// POST /v1/classify: the document of `vit classify --json`.
#include <memory>
#include <mutex>

#include "tools/output/predictions.h"
#include "tools/serve/routes.h"
#include "tools/serve/status_error.h"
#include "vit/base/text.h"

namespace vit::tools::serve {
namespace {

constexpr size_t kMostClasses = 1'000'000;

struct ClassifySettings {
  size_t top = 5;
  float threshold = 0.0f;
  bool logits = false;
  std::vector<text::WordLabel> labels{};  ///< empty: the model's own classes
};

ClassifySettings read_settings(const Request& request, const Json& fields, size_t most_texts) {
  ClassifySettings settings;
  settings.labels = read_labels(request, fields, most_texts);
  if (const auto text = setting(request, fields, "k")) {
    const auto value = to_number<size_t>(*text);
    if (!value || *value == 0 || *value > kMostClasses)
      fail_request(400, "'k' is '", *text, "', expected a whole number from 1 to ", kMostClasses);
    settings.top = *value;
  }
  if (const auto text = setting(request, fields, "threshold")) {
    const auto value = to_number<float>(*text);
    if (!value || !(*value >= 0.0f && *value <= 1.0f))
      fail_request(400, "'threshold' is '", *text, "', expected a number from 0 to 1");
    settings.threshold = *value;
  }
  if (const auto text = setting(request, fields, "logits")) {
    if (*text != "true" && *text != "false" && *text != "1" && *text != "0")
      fail_request(400, "'logits' is '", *text, "', expected true or false");
    settings.logits = *text == "true" || *text == "1";
  }
  return settings;
}

/// One request under way.
struct Classification {
  std::shared_ptr<Exchange> exchange;  ///< its request may hold the bytes of the images
  Inputs inputs;
  ClassifySettings settings;
  std::vector<std::vector<float>> embeddings;  ///< instead of images: the model's output for them
  std::vector<ImageResult> results;
  std::once_flag reads_labels{};
  WordsPtr words{};  ///< of settings.labels

  size_t count() const { return inputs.images.size() + embeddings.size(); }
};

std::vector<float> output_of(Classification& work, const PixelLimits& limits, Runner& runner,
                             size_t index) {
  if (!work.embeddings.empty()) return work.embeddings[index];
  const patch::Image image = decode_input(work.inputs.images[index], limits);
  work.results[index].damage = image.damage;
  const std::span<const float> output = runner.logits(image);
  check_answer(output);
  return {output.begin(), output.end()};
}

void classify_one(const ServedModel& model, const PixelLimits& limits, Runner& runner,
                  std::pair<Classification*, size_t> which) {
  // Clang 14 captures no structured bindings.
  Classification* const work = which.first;
  const size_t index = which.second;
  const ClassifySettings& settings = work->settings;
  ImageResult& result = work->results[index];
  result.logits = output_of(*work, limits, runner, index);
  if (settings.labels.empty()) {
    const Classifier& classifier = model.classifier;
    result.predictions = classifier.top(classifier.probabilities(result.logits), settings.top);
  } else {
    std::call_once(work->reads_labels,
                   [&] { work->words = model.need_words().classifier(settings.labels); });
    result.logits = word_logits(*work->words, result.logits);
    check_answer(result.logits);
    result.predictions = top_labels(*work->words, result.logits, settings.top);
  }
  std::erase_if(result.predictions,
                [&](const Prediction& p) { return p.probability < settings.threshold; });
}

Reply document(const ServedModel& model, const std::vector<ImageResult>& results, bool logits) {
  std::string body = json_opening(model.name, model.classifier.recipe());
  for (size_t i = 0; i < results.size(); ++i)
    body += (i == 0 ? "" : ",\n") + json_image(results[i], logits);
  return {.body = body + json_closing()};
}

/// With one image its error is the answer; with several, each has its own answer or error.
Reply reply_for(const ServedModel& model, Classification& work,
                const std::vector<std::exception_ptr>& problems) {
  for (size_t i = 0; i < problems.size(); ++i) {
    if (!problems[i]) continue;
    const auto [status, message] = problem_of(problems[i]);
    if (problems.size() == 1) return error_reply(status, message);
    work.results[i].error = message;
  }
  return document(model, work.results, work.settings.logits);
}

void check_model(const ServedModel& model, const ClassifySettings& settings) {
  if (!settings.labels.empty()) {
    model.need_words();
  } else if (model.words() != nullptr) {
    fail_request(422, model.name,
                 " has no classes of its own; name them, as in ?labels=a+cat,a+dog");
  } else if (model.classes() == 0) {
    fail_request(422, model.name, " has no classifier, its output is features; use /v1/embeddings");
  }
}

/// "embeddings": what /v1/embeddings answered for images before, to be compared with other labels.
std::vector<std::vector<float>> read_embeddings(const Json& fields, const ServedModel& model) {
  if (!fields.contains("embeddings")) return {};
  std::vector<std::vector<float>> embeddings;
  const size_t width = model.classifier.config().outputs();
  if (model.words() == nullptr)
    fail_request(422, model.name, " reads no text, so embeddings cannot be compared with labels");
  for (const Json& one : fields["embeddings"]) {
    const std::string where = "embeddings[" + std::to_string(embeddings.size()) + "]";
    embeddings.push_back(numbers_of(one, where));
    if (embeddings.back().size() != width)
      fail_request(400, where, " has ", embeddings.back().size(), " numbers, expected ", width);
  }
  return embeddings;
}

}  // namespace

void answer_classify(const Call& call) {
  auto work = std::make_shared<Classification>();
  work->exchange = call.exchange;
  const ServiceSettings& limits = call.context.settings;
  work->inputs = read_inputs(call.request(), limits.most_images, true);
  work->settings = read_settings(call.request(), work->inputs.fields, limits.most_texts);
  const ModelPtr model =
      call.context.models.find(setting(call.request(), work->inputs.fields, "model").value_or(""));
  check_model(*model, work->settings);
  work->embeddings = read_embeddings(work->inputs.fields, *model);
  for (const NamedImage& image : work->inputs.images) {
    work->results.emplace_back();
    work->results.back().file = image.name;
  }
  for (size_t i = 0; i < work->embeddings.size(); ++i) {
    work->results.emplace_back();
    work->results.back().file = "embedding " + std::to_string(i);
  }
  run_images(call,
             {.model = model,
              .count = work->count(),
              .work =
                  [=, pixels = limits.pixels](size_t i, Runner& runner) {
                    classify_one(*model, pixels, runner, {work.get(), i});
                  },
              .reply = [=](const auto& problems) { return reply_for(*model, *work, problems); }});
}

}  // namespace vit::tools::serve
