/// The interfaces of `vit serve` besides classification, and their description.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/tools/serve/served.h"
#include "vit/model/classifier.h"

namespace vit::tools {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

std::string data_url(const std::string& file) {
  return "data:image/png;base64," + in_base64(read_file(file));
}

std::vector<float> floats_of(std::string_view bytes) {
  std::vector<float> numbers(bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(float));
  return numbers;
}

TEST(ServeEmbeddings, AreTheFeaturesOfTheModel) {
  const Served served({"-m", golden("hf_vit")});
  const std::string first = golden_image("hf_vit"), second = golden_image("timm_vit");
  const Classifier classifier = Classifier::load(golden("hf_vit"));
  for (const auto& [name, kind] :
       {std::pair{"cls", FeatureKind::kClass}, std::pair{"mean", FeatureKind::kMean},
        std::pair{"pooled", FeatureKind::kPooled}}) {
    const Json ask{{"input", {data_url(first), data_url(second)}}, {"features", name}};
    const Json answer =
        Json::parse(served.post("/v1/embeddings", ask.dump(), "application/json").body);
    ASSERT_EQ(answer["data"].size(), 2u) << answer;
    EXPECT_EQ(answer["data"][0]["embedding"].get<std::vector<float>>(),
              classifier.features(read_image(first), kind));
    EXPECT_EQ(answer["data"][1]["embedding"].get<std::vector<float>>(),
              classifier.features(read_image(second), kind));
    EXPECT_EQ(answer["data"][1]["index"], 1);
  }
}

TEST(ServeEmbeddings, ComeInBase64AndNormalised) {
  const Served served({"-m", golden("hf_vit")});
  const auto ask = [&](Json more) {
    more["input"] = data_url(golden_image("hf_vit"));
    return Json::parse(served.post("/v1/embeddings", more.dump(), "application/json").body);
  };
  const auto plain = ask({{"normalize", true}})["data"][0]["embedding"].get<std::vector<float>>();
  double sum = 0.0;
  for (const float x : plain) sum += double{x} * double{x};
  EXPECT_NEAR(sum, 1.0, 1e-6);
  std::string bytes(plain.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), plain.data(), bytes.size());
  EXPECT_EQ(ask({{"normalize", true}, {"encoding_format", "base64"}})["data"][0]["embedding"],
            in_base64(bytes));
}

TEST(ServeEmbeddings, SayWhatIsWrong) {
  const Served served({"-m", golden("hf_vit")});
  const auto message = [&](const std::string& body, int status) {
    const Answer answer = served.post("/v1/embeddings", body, "application/json");
    EXPECT_EQ(answer.status, status) << body;
    return Json::parse(answer.body)["error"]["message"].get<std::string>();
  };
  EXPECT_THAT(message("{}", 400), HasSubstr("the JSON has no \"input\""));
  EXPECT_THAT(message("[]", 400), HasSubstr("the JSON has no \"input\""));
  EXPECT_THAT(message(R"({"input": []})", 400), HasSubstr("\"input\" is empty"));
  EXPECT_THAT(message(R"({"input": "a cat"})", 422), HasSubstr("reads no text"));
  EXPECT_THAT(message(R"({"input": "data:,x"})", 400), HasSubstr("input[0]: expected a URL"));
  EXPECT_THAT(message(R"({"input": "data:image/png;base64,AAAA"})", 415), HasSubstr("input[0]"));
  EXPECT_THAT(message(R"({"input": "data:a;base64,", "features": "x"})", 400),
              HasSubstr("'features' is 'x'"));
  const Json cut{{"input", data_url(golden_image("hf_vit"))}, {"dimensions", 3}};
  EXPECT_THAT(message(cut.dump(), 422), HasSubstr("'dimensions' is 3, but an embedding of"));
}

/// The Open Inference Protocol as its text describes it.
struct Inference {
  const Served& served;
  std::string model;

  Answer infer(const Json& json, const std::string& binary = "") const {
    const std::string text = json.dump();
    Ask ask{.method = "POST",
            .target = "/v2/models/" + model + "/infer",
            .body = text + binary,
            .type = binary.empty() ? "application/json" : "application/octet-stream"};
    if (!binary.empty())
      ask.headers = {{"Inference-Header-Content-Length", std::to_string(text.size())}};
    return served.ask(ask);
  }
};

Json bytes_request(const std::string& image) {
  return {
      {"inputs",
       {{{"name", "image"}, {"datatype", "BYTES"}, {"shape", {1}}, {"data", {in_base64(image)}}}}}};
}

std::string with_length(const std::string& bytes) {
  const auto length = static_cast<std::uint32_t>(bytes.size());
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + bytes;
}

TEST(ServeInference, AnswersInJsonAndInBinaryTensors) {
  const std::string folder = golden("hf_vit"), image = golden_image("hf_vit");
  const Served served({"-m", "it=" + folder});
  const Inference client{served, "it"};
  const Json expected =
      Json::parse(classified(folder, {image}, {"--logits"}))["images"][0]["logits"];
  const Json plain = Json::parse(client
                                     .infer({{"id", "seven"},
                                             {"inputs",
                                              {{{"name", "image"},
                                                {"datatype", "BYTES"},
                                                {"shape", {1}},
                                                {"data", {in_base64(read_file(image))}}}}},
                                             {"outputs", {{{"name", "logits"}}}}})
                                     .body);
  EXPECT_EQ(plain["id"], "seven");
  EXPECT_EQ(plain["model_name"], "it");
  ASSERT_EQ(plain["outputs"].size(), 1u) << plain;
  EXPECT_EQ(plain["outputs"][0]["data"], expected);
  EXPECT_EQ(plain["outputs"][0]["shape"], Json({1, expected.size()}));

  const std::string tensor = with_length(read_file(image)) + with_length(read_file(image));
  const Answer binary = client.infer({{"inputs",
                                       {{{"name", "image"},
                                         {"datatype", "BYTES"},
                                         {"shape", {2}},
                                         {"parameters", {{"binary_data_size", tensor.size()}}}}}},
                                      {"parameters", {{"binary_data_output", true}}}},
                                     tensor);
  ASSERT_EQ(binary.status, 200) << binary.body;
  const size_t head = std::stoul(binary.headers.at("inference-header-content-length"));
  const Json json = Json::parse(binary.body.substr(0, head));
  ASSERT_EQ(json["outputs"].size(), 2u);
  EXPECT_EQ(json["outputs"][1]["name"], "logits");
  const size_t size = json["outputs"][1]["parameters"]["binary_data_size"];
  auto twice = expected.get<std::vector<float>>();
  twice.insert(twice.end(), twice.begin(), twice.begin() + static_cast<long>(expected.size()));
  EXPECT_EQ(floats_of(std::string_view(binary.body).substr(binary.body.size() - size)), twice);
}

TEST(ServeInference, TakesPixelsThatAreAlreadyPrepared) {
  const std::string folder = golden("hf_vit"), image = golden_image("hf_vit");
  const Served served({"-m", "it=" + folder});
  const Classifier classifier = Classifier::load(folder);
  Runner runner = classifier.runner();
  runner.prepare(read_image(image));
  const MatrixView pixels = runner.pixels();
  std::string bytes;
  for (size_t r = 0; r < pixels.rows; ++r)
    bytes.append(reinterpret_cast<const char*>(pixels.row(r)), pixels.cols * sizeof(float));
  const Recipe& recipe = classifier.recipe();
  Json input{{"name", "pixels"},
             {"datatype", "FP32"},
             {"shape", {1, 3, recipe.crop_height, recipe.crop_width}},
             {"parameters", {{"binary_data_size", bytes.size()}}}};
  const Inference client{served, "it"};
  const Json binary = Json::parse(
      client.infer({{"inputs", {input}}, {"outputs", {{{"name", "logits"}}}}}, bytes).body);
  const Json expected =
      Json::parse(classified(folder, {image}, {"--logits"}))["images"][0]["logits"];
  ASSERT_TRUE(binary.contains("outputs")) << binary;
  EXPECT_EQ(binary["outputs"][0]["data"], expected);
  input.erase("parameters");
  input["data"] = floats_of(bytes);
  const Json json =
      Json::parse(client.infer({{"inputs", {input}}, {"outputs", {{{"name", "logits"}}}}}).body);
  EXPECT_EQ(json["outputs"][0]["data"], expected);
}

TEST(ServeInference, AnswersAtTheVersionThatItReports) {
  const Served served({"-m", "it=" + golden("hf_vit")});
  const Json versions = Json::parse(served.get("/v2/models/it").body)["versions"];
  ASSERT_EQ(versions, Json({"1"}));
  const Json ask = bytes_request(read_file(golden_image("hf_vit")));
  const Inference plain{served, "it"}, versioned{served, "it/versions/1"};
  EXPECT_EQ(versioned.infer(ask).body, plain.infer(ask).body);
  EXPECT_EQ(served.get("/v2/models/it/versions/1").body, served.get("/v2/models/it").body);
  EXPECT_EQ(served.get("/v2/models/it/versions/1/ready").status, 200);
  EXPECT_EQ(served.get("/v2/models/it/versions/2").status, 404);
}

TEST(ServeInference, RefusesPixelsThatGiveNoNumbers) {
  const Served served({"-m", "it=" + golden("hf_vit")});
  const Recipe recipe = Classifier::load(golden("hf_vit")).recipe();
  const size_t count = 3 * recipe.crop_height * recipe.crop_width;
  const Json ask{{"inputs",
                  {{{"name", "pixels"},
                    {"datatype", "FP32"},
                    {"shape", {1, 3, recipe.crop_height, recipe.crop_width}},
                    {"parameters", {{"binary_data_size", count * sizeof(float)}}}}}}};
  const std::vector<float> pixels(count, std::numeric_limits<float>::quiet_NaN());
  std::string bytes(count * sizeof(float), '\0');
  std::memcpy(bytes.data(), pixels.data(), bytes.size());
  const Answer answer = Inference{served, "it"}.infer(ask, bytes);
  EXPECT_EQ(answer.status, 422);
  EXPECT_THAT(Json::parse(answer.body)["error"],
              HasSubstr("image 0: the model's answer to these pixels is not finite"));
}

TEST(ServeInference, SaysWhatIsWrongInItsOwnForm) {
  const Served served({"-m", "it=" + golden("hf_vit")});
  const Inference client{served, "it"};
  const auto error = [&](const Json& json, int status, const std::string& binary = "") {
    const Answer answer = client.infer(json, binary);
    EXPECT_EQ(answer.status, status) << json;
    return Json::parse(answer.body)["error"].get<std::string>();
  };
  const auto input = [](const char* name, const char* type, const Json& shape, const Json& data) {
    return Json{
        {"inputs", {{{"name", name}, {"datatype", type}, {"shape", shape}, {"data", data}}}}};
  };
  EXPECT_THAT(error(Json::object(), 400), HasSubstr("expected {\"inputs\": [one tensor]}"));
  EXPECT_THAT(error(input("image", "INT8", {1}, {1}), 400), HasSubstr("expected BYTES or FP32"));
  EXPECT_THAT(error(input("image", "BYTES", {2}, {"AAAA"}), 400),
              HasSubstr("has 1 elements, but its shape says 2"));
  EXPECT_THAT(error(input("image", "BYTES", {-1}, {"AAAA"}), 400), HasSubstr("\"shape\" has -1"));
  EXPECT_THAT(error(input("image", "BYTES", {1u << 20, 1u << 20}, {"AAAA"}), 400),
              HasSubstr("\"shape\" has"));
  EXPECT_THAT(error(input("pixels", "FP32", {1}, {0.5}), 400), HasSubstr("FP32, [n, 3, "));
  EXPECT_THAT(error(input("image", "BYTES", {1}, {"AAAA"}), 415), HasSubstr("image 0: "));
  EXPECT_THAT(error(input("image", "BYTES", {1}, {"AAAA"}), 400, "surplus"),
              HasSubstr("7 bytes follow the JSON"));
  Json cut = input("image", "BYTES", {1}, nullptr);
  cut["inputs"][0]["parameters"]["binary_data_size"] = 6;
  EXPECT_THAT(error(cut, 400, std::string("\xff\xff\xff\xff\0\0", 6)), HasSubstr("cut short"));
  const Answer unknown = served.get("/v2/models/none");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_THAT(Json::parse(unknown.body)["error"], HasSubstr("there is no model 'none'"));
}

/// Whether a value is as a schema of OpenAPI 3.0 says; where it is not, the place.
class Validator {
 public:
  explicit Validator(const Json& document) : document_(document) {}

  /// Of an answer, by its status.
  std::string problem(const std::string& path, const Ask& ask, const Answer& answer) const {
    const Json& operation = document_["paths"][path][ask.method == "GET" ? "get" : "post"];
    const std::string status = std::to_string(answer.status);
    if (!operation["responses"].contains(status)) return path + ": not described: " + status;
    Json response = operation["responses"][status];
    if (response.contains("$ref"))
      response = document_.at(Json::json_pointer(response["$ref"].get<std::string>().substr(1)));
    return problem(response["content"]["application/json"]["schema"], Json::parse(answer.body),
                   path);
  }

  std::string problem(const Json& schema, const Json& value, const std::string& place) const {
    if (schema.contains("$ref"))
      return problem(document_.at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1))),
                     value, place);
    if (schema.contains("oneOf")) {
      for (const Json& one : schema["oneOf"])
        if (problem(one, value, place).empty()) return {};
      return place + ": fits none of its forms";
    }
    if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end())
      return place + ": not one of its values";
    const std::string type = schema.value("type", "");
    if ((type == "string" && !value.is_string()) || (type == "boolean" && !value.is_boolean()) ||
        (type == "integer" && !value.is_number_integer()) ||
        (type == "number" && !value.is_number()) || (type == "array" && !value.is_array()) ||
        (type == "object" && !value.is_object()))
      return place + ": is no " + type;
    return type == "object" ? members(schema, value, place) : elements(schema, value, place);
  }

 private:
  std::string members(const Json& schema, const Json& value, const std::string& place) const {
    for (const Json& name : schema.value("required", Json::array()))
      if (!value.contains(name.get<std::string>())) return place + ": no " + name.dump();
    const Json properties = schema.value("properties", Json::object());
    for (const auto& [name, one] : value.items()) {
      if (!properties.contains(name)) continue;
      const std::string inside = problem(properties[name], one, place + "." + name);
      if (!inside.empty()) return inside;
    }
    // What is answered is described.
    for (const auto& [name, one] : value.items())
      if (!properties.empty() && !properties.contains(name) && place.find("facts") == place.npos)
        return place + ": " + name + " is not described";
    return {};
  }
  std::string elements(const Json& schema, const Json& value, const std::string& place) const {
    if (!value.is_array() || !schema.contains("items")) return {};
    for (size_t i = 0; i < value.size(); ++i) {
      const std::string inside =
          problem(schema["items"], value[i], place + "[" + std::to_string(i) + "]");
      if (!inside.empty()) return inside;
    }
    return {};
  }

  const Json& document_;
};

TEST(ServeOpenApi, DescribesTheRefusalsOfEveryRoute) {
  const Folder folder;
  const std::string tokens = folder.write("tokens", "the-only-token-of-this-test\n");
  std::filesystem::permissions(tokens, std::filesystem::perms(0600));
  const Served open({"-m", golden("timm_vit")}),
      closed({"-m", golden("timm_vit"), "--token-file", tokens});
  const Json document = Json::parse(open.get("/openapi.json").body);
  const Validator validator(document);
  for (const auto& [path, operations] : document["paths"].items()) {
    Ask ask{.method = operations.contains("get") ? "GET" : "POST", .target = path};
    const Answer without = closed.ask(ask);
    if (without.status != 200) {
      EXPECT_EQ(without.status, 401) << path;
      EXPECT_EQ(validator.problem(path, ask, without), "");
    }
    EXPECT_EQ(operations.begin()->at("responses").contains("401"), without.status == 401) << path;
    ask.headers = {{"Origin", "https://example.org"}};
    const Answer foreign = open.ask(ask);
    EXPECT_EQ(foreign.status, 403) << path;
    EXPECT_EQ(validator.problem(path, ask, foreign), "");
  }
}

TEST(ServeOpenApi, DescribesTheAnswersAsTheyAre) {
  const Served served({"-m", "it=" + golden("timm_vit"), "-m", "words=" + two_towers()});
  const Json document = Json::parse(served.get("/openapi.json").body);
  const Validator validator(document);
  const std::string image = read_file(golden_image("timm_vit"));
  const std::string embed = Json{{"input", data_url(golden_image("timm_vit"))}}.dump();
  const std::vector<std::pair<std::string, Ask>> asked{
      {"/v1/classify",
       {.method = "POST", .target = "/v1/classify?logits=1", .body = image, .type = "image/png"}},
      {"/v1/classify", {.method = "POST", .target = "/v1/classify", .body = "x"}},
      {"/v1/classify",
       {.method = "POST", .target = "/v1/classify?model=words&labels=a,b", .body = image}},
      {"/v1/classify", {.method = "POST", .target = "/v1/classify?model=words", .body = image}},
      {"/v1/embeddings",
       {.method = "POST", .target = "/v1/embeddings", .body = embed, .type = "application/json"}},
      {"/v1/embeddings",
       {.method = "POST",
        .target = "/v1/embeddings",
        .body = R"({"input": ["a cat"], "model": "words", "encoding_format": "base64"})",
        .type = "application/json"}},
      {"/v1/attention",
       {.method = "POST",
        .target = "/v1/attention?format=json",
        .body = image,
        .type = "image/png"}},
      {"/v1/models", {.target = "/v1/models"}},
      {"/v1/models/{model}", {.target = "/v1/models/it"}},
      {"/v1/models/{model}", {.target = "/v1/models/words"}},
      {"/v1/models/{model}", {.target = "/v1/models/none"}},
      {"/v2", {.target = "/v2"}},
      {"/v2/health/live", {.target = "/v2/health/live"}},
      {"/v2/health/ready", {.target = "/v2/health/ready"}},
      {"/v2/models/{model}", {.target = "/v2/models/it"}},
      {"/v2/models/{model}", {.target = "/v2/models/none"}},
      {"/v2/models/{model}/ready", {.target = "/v2/models/it/ready"}},
      {"/v2/models/{model}/versions/1", {.target = "/v2/models/it/versions/1"}},
      {"/v2/models/{model}/versions/1/ready", {.target = "/v2/models/it/versions/1/ready"}},
      {"/v2/models/{model}/versions/1/infer",
       {.method = "POST",
        .target = "/v2/models/it/versions/1/infer",
        .body = bytes_request(image).dump(),
        .type = "application/json"}},
      {"/v2/models/{model}/infer",
       {.method = "POST",
        .target = "/v2/models/it/infer",
        .body = bytes_request(image).dump(),
        .type = "application/json"}},
      {"/v2/models/{model}/infer",
       {.method = "POST",
        .target = "/v2/models/it/infer",
        .body = bytes_request("no image").dump(),
        .type = "application/json"}},
      {"/health/live", {.target = "/health/live"}},
      {"/health/ready", {.target = "/health/ready"}},
      {"/openapi.json", {.target = "/openapi.json"}},
  };
  std::set<std::string> seen{"/metrics"};  // no JSON
  for (const auto& [path, ask] : asked) {
    seen.insert(path);
    ASSERT_TRUE(document["paths"].contains(path)) << path;
    EXPECT_EQ(validator.problem(path, ask, served.ask(ask)), "");
  }
  for (const auto& [path, one] : document["paths"].items())
    EXPECT_TRUE(seen.contains(path)) << path << " was not asked";
}

}  // namespace
}  // namespace vit::tools
