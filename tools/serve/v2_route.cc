/// The Open Inference Protocol, version 2: /v2, /v2/health, /v2/models.
#include <algorithm>
#include <cmath>
#include <memory>

#include "tools/serve/routes.h"
#include "tools/serve/status_error.h"
#include "tools/serve/v2_tensors.h"

namespace vit::tools::serve {
namespace {

constexpr const char* kImage = "image";
constexpr const char* kPixels = "pixels";
constexpr const char* kLogits = "logits";
constexpr const char* kProbabilities = "probabilities";
constexpr const char* kFeatures = "features";

/// One request under way.
struct Inference {
  InferRequest request;
  size_t images = 0;
  size_t values = 0;  ///< per image, of the input `pixels`
  size_t outputs = 0;
  std::vector<float> logits;
  std::vector<float> probabilities;
};

Json tensor(const char* name, const char* type, const std::vector<long>& shape) {
  Json json;
  json["name"] = name;
  json["datatype"] = type;
  json["shape"] = shape;
  return json;
}

std::vector<std::string> output_names(const ServedModel& model) {
  if (model.classes() == 0) return {kFeatures};
  return {kProbabilities, kLogits};
}

void check_input(const ServedModel& model, const InferInput& input, size_t most_images) {
  const Recipe& recipe = model.classifier.recipe();
  const std::vector<size_t> pixels{input.shape.empty() ? 0 : input.shape.front(), 3,
                                   recipe.crop_height, recipe.crop_width};
  const bool images = input.is_bytes && input.name == kImage;
  if (!images && (input.is_bytes || input.name != kPixels || input.shape != pixels))
    fail_request(400, "input '", input.name, "': ", model.name,
                 " takes 'image', BYTES, image files; ", "or 'pixels', FP32, [n, 3, ",
                 recipe.crop_height, ", ", recipe.crop_width, "]");
  const size_t count = images ? input.elements.size() : input.shape.front();
  if (count > most_images)
    fail_request(413, count, " images in one request; at most ", most_images, " are answered");
}

void check_outputs(const ServedModel& model, InferRequest& request) {
  const auto names = output_names(model);
  if (request.outputs.empty())
    for (const auto& name : names) request.outputs.push_back({name, request.binary});
  for (const InferOutput& output : request.outputs)
    if (std::ranges::find(names, output.name) == names.end())
      fail_request(400, model.name, " has no output '", output.name, "'");
}

void infer_one(const ServedModel& model, const Context& context, Runner& runner,
               std::pair<Inference*, size_t> which) {
  const auto [work, index] = which;
  const InferInput& input = work->request.input;
  if (input.is_bytes) {
    const NamedImage image{"image " + std::to_string(index), input.elements[index]};
    runner.prepare(decode_input(image, context.settings.pixels));
  } else {
    const MatrixView pixels = runner.pixels();
    for (size_t r = 0; r < pixels.rows; ++r)
      std::copy_n(&input.numbers[index * work->values + r * pixels.cols], pixels.cols,
                  pixels.row(r));
  }
  const std::span<const float> logits = runner.logits();
  if (!input.is_bytes && !std::ranges::all_of(logits, [](float x) { return std::isfinite(x); }))
    fail_request(422, "image ", index, ": the model's answer to these pixels is not finite; ",
                 "expected numbers as its recipe makes them");
  check_answer(logits);
  const auto place = static_cast<std::ptrdiff_t>(index * work->outputs);
  std::ranges::copy(logits, work->logits.begin() + place);
  std::ranges::copy(model.classifier.probabilities(logits), work->probabilities.begin() + place);
}

Reply reply_for(const ServedModel& model, const Inference& work,
                const std::vector<std::exception_ptr>& problems) {
  for (const auto& problem : problems)
    if (problem) std::rethrow_exception(problem);
  std::vector<OutputTensor> outputs;
  for (const InferOutput& output : work.request.outputs)
    outputs.push_back({output.name,
                       {work.images, work.outputs},
                       output.name == kProbabilities ? work.probabilities : work.logits,
                       output.binary});
  return infer_reply(model.name, work.request, outputs);
}

}  // namespace

void answer_v2_server(const Call& call) {
  Json json;
  json["name"] = "vit";
  json["version"] = VIT_VERSION;
  json["extensions"] = {"binary_tensor_data"};
  call.exchange->answer({.body = dump(json) + "\n"});
}

void answer_v2_live(const Call& call) {
  call.exchange->answer({.body = "{\"live\": true}\n"});
}

void answer_v2_ready(const Call& call) {
  call.exchange->answer({.body = "{\"ready\": true}\n"});
}

void answer_v2_model_ready(const Call& call) {
  const ModelPtr model = call.context.models.find(call.model);
  Json json;
  json["name"] = model->name;
  json["ready"] = true;
  call.exchange->answer({.body = dump(json) + "\n"});
}

void answer_v2_model(const Call& call) {
  const ModelPtr model = call.context.models.find(call.model);
  const Recipe& recipe = model->classifier.recipe();
  const long outputs = static_cast<long>(model->classifier.config().outputs());
  Json json;
  json["name"] = model->name;
  json["versions"] = {"1"};
  json["platform"] = "vit";
  json["inputs"] = {
      tensor(kImage, "BYTES", {-1}),
      tensor(kPixels, "FP32",
             {-1, 3, static_cast<long>(recipe.crop_height), static_cast<long>(recipe.crop_width)})};
  json["outputs"] = Json::array();
  for (const auto& name : output_names(*model))
    json["outputs"].push_back(tensor(name.c_str(), "FP32", {-1, outputs}));
  call.exchange->answer({.body = dump(json) + "\n"});
}

void answer_v2_infer(const Call& call) {
  const ModelPtr model = call.context.models.find(call.model);
  auto work = std::make_shared<Inference>();
  work->request = parse_infer(call.request());
  const InferInput& input = work->request.input;
  check_input(*model, input, call.context.settings.most_images);
  check_outputs(*model, work->request);
  work->images = input.is_bytes ? input.elements.size() : input.shape.front();
  work->values = input.numbers.size() / work->images;
  work->outputs = model->classifier.config().outputs();
  work->logits.resize(work->images * work->outputs);
  work->probabilities.resize(work->logits.size());
  const Context context = call.context;
  run_images(call,
             {.model = model,
              .count = work->images,
              .work =
                  [=](size_t i, Runner& runner) {
                    infer_one(*model, context, runner, {work.get(), i});
                  },
              .reply = [=](const auto& problems) { return reply_for(*model, *work, problems); }});
}

}  // namespace vit::tools::serve
