/// POST /v1/embeddings, in the form of OpenAI's interface: images as data: URLs, and texts.
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "tools/serve/routes.h"
#include "tools/serve/status_error.h"
#include "vit/base/text.h"
#include "vit/model/features.h"
#include "vit/model/unit_length.h"

namespace vit::tools::serve {
namespace {

/// An image file, or a text.
struct Input {
  std::string content;
  bool is_text = false;
};

/// One request under way.
struct Embedding {
  std::vector<Input> inputs;
  std::vector<std::vector<float>> features;
  std::vector<size_t> tokens;         ///< of texts, for each input
  std::optional<FeatureKind> kind{};  ///< none: the model's output, which texts are compared with
  bool in_base64 = false;
  bool normalize = false;
  std::optional<size_t> dimensions{};  ///< what the request expects
};

FeatureKind read_kind(const std::string& text) {
  using enum FeatureKind;
  for (const FeatureKind kind : {kClass, kMean, kClassAndMean, kPooled})
    if (to_string(kind) == text) return kind;
  fail_request(400, "'features' is '", text,
               "', expected output, pooled, cls, mean or cls-and-mean");
}

std::string one_of(const Request& request, const Json& json, const std::string& name,
                   const std::vector<std::string>& choices) {
  const std::string text = setting(request, json, name).value_or(choices.front());
  std::string expected;
  for (const auto& choice : choices) {
    if (choice == text) return text;
    expected += (expected.empty() ? "" : " or ") + choice;
  }
  fail_request(400, "'", name, "' is '", text, "', expected ", expected);
}

std::vector<Input> read_list(const Json& json, size_t most, const ServedModel& model) {
  const Json list = json["input"].is_array() ? json["input"] : Json::array({json["input"]});
  if (list.empty()) fail_request(400, "\"input\" is empty");
  if (list.size() > most)
    fail_request(413, list.size(), " inputs in one request; at most ", most, " are answered");
  std::vector<Input> inputs;
  for (const Json& one : list) {
    const std::string where = "input[" + std::to_string(inputs.size()) + "]";
    if (!one.is_string())
      fail_request(400, where, " is ", one.type_name(), ", expected an image as a data: URL",
                   model.words() == nullptr ? "" : ", or a text");
    const bool is_text = !one.get_ref<const std::string&>().starts_with("data:");
    if (is_text && model.words() == nullptr)
      fail_request(422, where, ": images are given as data: URLs, and texts are not read: ",
                   model.why_no_words());
    inputs.push_back({is_text ? one.get<std::string>() : image_bytes(one, where), is_text});
  }
  return inputs;
}

/// The value of "features". Images and texts are compared by the model's output, so that is the
/// default of models that read both.
std::optional<FeatureKind> read_features(const Request& request, const Json& json,
                                         const ServedModel& model) {
  const auto given = setting(request, json, "features");
  const std::string which = given.value_or(model.words() == nullptr ? "pooled" : "output");
  if (which == "output") return {};
  const FeatureKind kind = read_kind(which);
  try {
    check_features(model.classifier.config(), kind);
  } catch (const Error& error) {
    fail_request(422, error.what());
  }
  return kind;
}

void embed(const ServedModel& model, const PixelLimits& limits, Runner& runner,
           std::pair<Embedding*, size_t> which) {
  const auto [work, index] = which;
  const Input& input = work->inputs[index];
  const std::string where = "input[" + std::to_string(index) + "]";
  std::vector<float>& features = work->features[index];
  if (input.is_text) {
    TextFeature text = model.need_words().feature(input.content, where);
    work->tokens[index] = text.tokens;
    features = std::move(text.numbers);
  } else {
    const patch::Image image = decode_input({where, input.content}, limits);
    if (work->kind) {
      features = runner.features(image, *work->kind);
    } else {
      const std::span<const float> output = runner.logits(image);
      features.assign(output.begin(), output.end());
    }
  }
  check_answer(features);
  if (work->dimensions.value_or(features.size()) != features.size())
    fail_request(422, "'dimensions' is ", *work->dimensions, ", but an embedding of ", model.name,
                 " has ", features.size(), " numbers; leave it out");
  if (work->normalize) scale_to_unit(features);
}

Reply reply_for(const ServedModel& model, const Embedding& work,
                const std::vector<std::exception_ptr>& problems) {
  Json json;
  json["object"] = "list";
  json["data"] = Json::array();
  for (size_t i = 0; i < problems.size(); ++i) {
    if (problems[i]) {
      const auto [status, message] = problem_of(problems[i]);
      return error_reply(status, message);
    }
    Json one;
    one["object"] = "embedding";
    one["index"] = i;
    if (work.in_base64)
      one["embedding"] = packed_numbers(work.features[i]);
    else
      one["embedding"] = work.features[i];
    json["data"].push_back(std::move(one));
  }
  json["model"] = model.name;
  const size_t tokens = std::accumulate(work.tokens.begin(), work.tokens.end(), size_t{0});
  json["usage"]["prompt_tokens"] = tokens;
  json["usage"]["total_tokens"] = tokens;
  return {.body = dump(json) + "\n"};
}

}  // namespace

void answer_embeddings(const Call& call) {
  const Request& request = call.request();
  if (media_type(request) != "application/json")
    fail_request(415, "/v1/embeddings reads application/json");
  const Json json = parse_json(request.body);
  auto work = std::make_shared<Embedding>();
  if (!json.is_object() || !json.contains("input"))
    fail_request(400, "the JSON has no \"input\": an image as a data: URL, or several");
  const ModelPtr model = call.context.models.find(setting(request, json, "model").value_or(""));
  work->inputs = read_list(json, call.context.settings.most_images, *model);
  work->in_base64 = one_of(request, json, "encoding_format", {"float", "base64"}) == "base64";
  work->normalize = one_of(request, json, "normalize", {"false", "true"}) == "true";
  work->kind = read_features(request, json, *model);
  if (const auto text = setting(request, json, "dimensions")) {
    work->dimensions = to_number<size_t>(*text);
    if (!work->dimensions)
      fail_request(400, "'dimensions' is '", *text, "', expected a whole number");
  }
  const bool texts = std::ranges::any_of(work->inputs, &Input::is_text);
  if (texts && work->kind)
    fail_request(422,
                 "texts have only the features \"output\", by which they are compared with images");
  work->features.resize(work->inputs.size());
  work->tokens.resize(work->inputs.size());
  run_images(call,
             {.model = model,
              .count = work->inputs.size(),
              .work =
                  [=, pixels = call.context.settings.pixels](size_t i, Runner& runner) {
                    embed(*model, pixels, runner, {work.get(), i});
                  },
              .reply = [=](const auto& problems) { return reply_for(*model, *work, problems); }});
}

}  // namespace vit::tools::serve
