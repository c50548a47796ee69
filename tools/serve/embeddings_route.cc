/// POST /v1/embeddings, in the form of OpenAI's interface: images as data: URLs.
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>

#include "tools/output/html.h"
#include "tools/serve/routes.h"
#include "tools/serve/status_error.h"
#include "vit/model/features.h"

namespace vit::tools::serve {
namespace {

/// One request under way.
struct Embedding {
  std::vector<std::string> images;
  std::vector<std::vector<float>> features;
  FeatureKind kind = FeatureKind::kPooled;
  bool in_base64 = false;
  bool normalize = false;
};

FeatureKind read_kind(const std::string& text) {
  using enum FeatureKind;
  for (const FeatureKind kind : {kClass, kMean, kClassAndMean, kPooled})
    if (to_string(kind) == text) return kind;
  fail_request(400, "'features' is '", text, "', expected cls, mean, cls-and-mean or pooled");
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

std::vector<std::string> read_images(const Json& json, size_t most) {
  if (!json.is_object() || !json.contains("input"))
    fail_request(400, "the JSON has no \"input\": an image as a data: URL, or several");
  const Json list = json["input"].is_array() ? json["input"] : Json::array({json["input"]});
  if (list.empty()) fail_request(400, "\"input\" is empty");
  if (list.size() > most)
    fail_request(413, list.size(), " inputs in one request; at most ", most, " are answered");
  std::vector<std::string> images;
  for (const Json& one : list) {
    const std::string where = "input[" + std::to_string(images.size()) + "]";
    if (!one.is_string() || !one.get_ref<const std::string&>().starts_with("data:"))
      fail_request(422, where, ": this model reads images, given as data: URLs; it reads no text");
    images.push_back(image_bytes(one, where));
  }
  return images;
}

void normalize(std::vector<float>& features) {
  double sum = 0.0;
  for (const float x : features) sum += double{x} * double{x};
  if (sum <= 0.0) return;
  for (float& x : features) x = static_cast<float>(x / std::sqrt(sum));
}

/// Little-endian float32, as OpenAI's clients read it.
std::string packed(const std::vector<float>& features) {
  static_assert(std::endian::native == std::endian::little);
  std::string bytes(features.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), features.data(), bytes.size());
  return base64(bytes);
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
      one["embedding"] = packed(work.features[i]);
    else
      one["embedding"] = work.features[i];
    json["data"].push_back(std::move(one));
  }
  json["model"] = model.name;
  json["usage"]["prompt_tokens"] = 0;
  json["usage"]["total_tokens"] = 0;
  return {.body = dump(json) + "\n"};
}

}  // namespace

void answer_embeddings(const Call& call) {
  const Request& request = call.request();
  if (media_type(request) != "application/json")
    fail_request(415, "/v1/embeddings reads application/json");
  const Json json = parse_json(request.body);
  auto work = std::make_shared<Embedding>();
  work->images = read_images(json, call.context.settings.most_images);
  work->in_base64 = one_of(request, json, "encoding_format", {"float", "base64"}) == "base64";
  work->normalize = one_of(request, json, "normalize", {"false", "true"}) == "true";
  const ModelPtr model = call.context.models.find(setting(request, json, "model").value_or(""));
  work->kind = read_kind(setting(request, json, "features").value_or("pooled"));
  try {
    check_features(model->classifier.config(), work->kind);
  } catch (const Error& error) {
    fail_request(422, error.what());
  }
  work->features.resize(work->images.size());
  const Context context = call.context;
  run_images(call,
             {.model = model,
              .count = work->images.size(),
              .work =
                  [=](size_t i, Runner& runner) {
                    const NamedImage input{"input[" + std::to_string(i) + "]", work->images[i]};
                    const patch::Image image = decode_input(input, context.settings.pixels);
                    work->features[i] = runner.features(image, work->kind);
                    check_answer(work->features[i]);
                    if (work->normalize) normalize(work->features[i]);
                  },
              .reply = [=](const auto& problems) { return reply_for(*model, *work, problems); }});
}

}  // namespace vit::tools::serve
