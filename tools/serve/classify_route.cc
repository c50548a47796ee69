/// POST /v1/classify: the document of `vit classify --json`.
#include <memory>

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
};

ClassifySettings read_settings(const Request& request, const Json& fields) {
  ClassifySettings settings;
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
  std::shared_ptr<Exchange> exchange;  ///< in whose request the images may lie
  Inputs inputs;
  ClassifySettings settings;
  std::vector<ImageResult> results;
};

void classify_one(const ServedModel& model, const NamedImage& input, const Context& context,
                  std::pair<Runner*, const ClassifySettings*> how, ImageResult& result) {
  const auto [runner, settings] = how;
  const patch::Image image = decode_input(input, context.settings.pixels);
  result.damage = image.damage;
  const std::span<const float> logits = runner->logits(image);
  check_answer(logits);
  result.logits.assign(logits.begin(), logits.end());
  const Classifier& classifier = model.classifier;
  result.predictions = classifier.top(classifier.probabilities(result.logits), settings->top);
  std::erase_if(result.predictions,
                [&](const Prediction& p) { return p.probability < settings->threshold; });
}

Reply document(const ServedModel& model, const std::vector<ImageResult>& results, bool logits) {
  std::string body = json_opening(model.name, model.classifier.recipe());
  for (size_t i = 0; i < results.size(); ++i)
    body += (i == 0 ? "" : ",\n") + json_image(results[i], logits);
  return {.body = body + json_closing()};
}

/// One image: its problem is the answer. Several: each has its answer or its problem.
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

}  // namespace

void answer_classify(const Call& call) {
  auto work = std::make_shared<Classification>();
  work->exchange = call.exchange;
  work->inputs = read_inputs(call.request(), call.context.settings.most_images);
  work->settings = read_settings(call.request(), work->inputs.fields);
  const ModelPtr model =
      call.context.models.find(setting(call.request(), work->inputs.fields, "model").value_or(""));
  if (model->classifier.config().head.classes == 0)
    fail_request(422, model->name,
                 " has no classifier, its output is features; use /v1/embeddings");
  for (const NamedImage& image : work->inputs.images) {
    work->results.emplace_back();
    work->results.back().file = image.name;
  }
  const Context context = call.context;
  run_images(call,
             {.model = model,
              .count = work->inputs.images.size(),
              .work =
                  [=](size_t i, Runner& runner) {
                    classify_one(*model, work->inputs.images[i], context,
                                 {&runner, &work->settings}, work->results[i]);
                  },
              .reply = [=](const auto& problems) { return reply_for(*model, *work, problems); }});
}

}  // namespace vit::tools::serve
