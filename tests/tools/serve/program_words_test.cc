/// `vit serve` with models that read text: labels in words, embeddings of texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/golden.h"
#include "tests/support/paths.h"
#include "tests/tools/serve/served.h"

namespace vit::tools {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

/// Of this model: exp(logit_scale) and logit_bias.
const double kScale = std::exp(1.900390625);
constexpr double kBias = -1.25;

std::string message_of(const Answer& answer) {
  return Json::parse(answer.body)["error"]["message"];
}

/// One model that reads text, and one with classes of its own.
class ServeWords : public testing::Test {
 protected:
  Answer classify(const std::string& settings) const {
    return served_.post("/v1/classify?name=i" + settings, image_);
  }
  Answer json(const std::string& target, const Json& body) const {
    return served_.post(target, body.dump(), "application/json");
  }
  Json predictions(const Answer& answer) const {
    EXPECT_EQ(answer.status, 200) << answer.body;
    return Json::parse(answer.body)["images"][0]["predictions"];
  }
  std::vector<float> embedding(const std::string& input) const {
    const Answer answer = json("/v1/embeddings", {{"input", input}, {"normalize", true}});
    EXPECT_EQ(answer.status, 200) << answer.body;
    return Json::parse(answer.body)["data"][0]["embedding"];
  }

  const std::string file_ = golden_image("hf_vit");
  const std::string image_ = read_file(file_);
  const std::string url_ = "data:image/png;base64," + in_base64(image_);
  const Served served_{
      {"-m", "words=" + two_towers(), "-m", "own=" + golden("hf_vit"), "--max-texts", "12"}};
};

TEST_F(ServeWords, NamesItsClassesInTheRequest) {
  const Json expected = predictions(classify("&labels=a+cat,a+dog,+two+birds&k=2"));
  ASSERT_EQ(expected.size(), 2u);
  EXPECT_GE(expected[0]["probability"], expected[1]["probability"]);
  const std::vector<std::string> labels{"a cat", "a dog", "two birds"};
  EXPECT_EQ(expected[0]["label"], labels[expected[0]["class"].get<size_t>()]);

  const Json body{{"images", {url_}}, {"labels", labels}, {"k", 2}};
  EXPECT_EQ(predictions(json("/v1/classify", body)), expected);
  Ask ask = form("/v1/classify?labels=a+cat,a+dog,two+birds&k=2", {{"i", image_}});
  EXPECT_EQ(predictions(served_.ask(ask)), expected);
  // Without the template the texts differ.
  EXPECT_NE(predictions(classify("&labels=a+cat,a+dog,two+birds&k=2&template=plain")), expected);
  EXPECT_EQ(predictions(classify("&labels=cat,dog&template=This+is+a+photo+of+%7B%7D.")),
            predictions(classify("&labels=cat,dog")))
      << "the usual sentence of SigLIP";
  const Json two{{"images", {url_}}, {"labels", "cat"}, {"template", {"a {}", "one {}"}}};
  EXPECT_EQ(predictions(json("/v1/classify", two)),
            predictions(classify("&labels=cat&template=a+%7B%7D&template=one+%7B%7D")));
}

/// Labels with and without an article of their own: the sentences for them differ.
constexpr const char* kLabels = "a cat,dog,the birds";

TEST_F(ServeWords, AnswersAsVitClassifyDoesToTheLastDigit) {
  const auto image_of = [](const std::string& text) { return Json::parse(text)["images"][0]; };
  Json expected = image_of(classified(two_towers(), {file_}, {"--logits", "--labels", kLabels}));
  expected["file"] = "i";
  EXPECT_EQ(image_of(classify("&logits=1&labels=a+cat,dog,the+birds").body), expected);
  expected = image_of(classified(
      two_towers(), {file_},
      {"--logits", "--labels", kLabels, "--template", "openai-7", "--template", "one {}"}));
  expected["file"] = "i";
  const Json body{{"images", {{{"name", "i"}, {"data", url_}}}},
                  {"labels", {"a cat", "dog", "the birds"}},
                  {"logits", true},
                  {"template", {"openai-7", "one {}"}}};
  const Served more({"-m", two_towers()});
  EXPECT_EQ(image_of(more.post("/v1/classify", body.dump(), "application/json").body), expected);
}

TEST_F(ServeWords, ModelsSayWhetherTheyReadText) {
  const Json models = Json::parse(served_.get("/v1/models").body)["data"];
  EXPECT_EQ(models[0]["text"], true);
  EXPECT_EQ(models[0]["classes"], 0);
  EXPECT_EQ(models[1]["text"], false);
  EXPECT_GT(models[1]["classes"], 0);
  const Json metadata = Json::parse(served_.get("/v2/models/words").body);
  ASSERT_EQ(metadata["outputs"].size(), 1u);
  EXPECT_EQ(metadata["outputs"][0]["name"], "features");
}

TEST_F(ServeWords, EmbedsTextsAndImagesInTheSameSpace) {
  const auto image = embedding(url_);
  for (const std::string text : {"a cat", "a dog"}) {
    const auto words = embedding(text);
    ASSERT_EQ(words.size(), image.size());
    double cosine = 0.0;
    for (size_t i = 0; i < image.size(); ++i) cosine += double{image[i]} * double{words[i]};
    // The probability is sigmoid(scale * cosine + bias), so the logits tell the same.
    const Json answer = Json::parse(
        classify("&logits=1&template=plain&labels=" + text.substr(0, 1) + "+" + text.substr(2))
            .body);
    const double logit = answer["images"][0]["logits"][0];
    EXPECT_NEAR(answer["images"][0]["predictions"][0]["probability"].get<double>(),
                1.0 / (1.0 + std::exp(-logit)), 1e-6);
    EXPECT_NEAR((logit - kBias) / kScale, cosine, 1e-5);
  }
  const Json both = Json::parse(json("/v1/embeddings", {{"input", {"a cat", url_}}}).body);
  ASSERT_EQ(both["data"].size(), 2u);
  EXPECT_GT(both["usage"]["prompt_tokens"], 0);
}

TEST_F(ServeWords, ComparesAnEmbeddingWithOtherLabelsWithoutTheImage) {
  const Json given = Json::parse(json("/v1/embeddings", {{"input", url_}}).body);
  const Json packed =
      Json::parse(json("/v1/embeddings", {{"input", url_}, {"encoding_format", "base64"}}).body);
  for (const Json& embedded : {given, packed}) {
    const Json body{{"embeddings", {embedded["data"][0]["embedding"]}}, {"labels", "cat,dog"}};
    EXPECT_EQ(predictions(json("/v1/classify", body)), predictions(classify("&labels=cat,dog")));
  }
}

TEST_F(ServeWords, SayWhatIsWrong) {
  const auto expect = [&](const Answer& answer, int status, const std::string& message) {
    EXPECT_EQ(answer.status, status) << answer.body;
    EXPECT_THAT(message_of(answer), HasSubstr(message));
  };
  expect(classify(""), 422, "words has no classes of its own; name them, as in ?labels=a+cat");
  expect(classify("&model=own&labels=cat"), 422, "classes of its own");
  expect(classify("&labels="), 400, "labels: label 1 of 1 is empty");
  expect(classify("&labels=cat,dog,cat"), 400, "is 'cat', as is label 1");
  expect(classify("&labels=%ff"), 400, "labels: label 1");
  expect(classify("&labels=cat&template=a+photo"), 400, "expected a sentence with {}");
  expect(classify("&labels=a,b,c&template=openai-7"), 413, "at most 12 texts");
  const Json wide{{"embeddings", {{1.0, 2.0}}}, {"labels", "cat"}};
  expect(json("/v1/classify", wide), 400, "embeddings[0] has 2 numbers, expected ");
  expect(json("/v1/classify", {{"embeddings", {"AAAA!"}}, {"labels", "cat"}}), 400,
         "embeddings[0]: not float32");
  expect(json("/v1/classify?model=own", {{"embeddings", {{1.0}}}}), 422, "reads no text");
  expect(json("/v1/classify", {{"images", {url_}}, {"labels", {1}}}), 400, "expected texts");
  expect(json("/v1/attention", {{"embeddings", {{1.0}}}}), 400, "has no array \"images\"");
  expect(json("/v1/embeddings", {{"input", "a"}, {"features", "mean"}}), 422, "texts have only");
  expect(json("/v1/embeddings?model=own", {{"input", "a cat"}}), 422, "classes of its own");
  expect(served_.post("/v1/embeddings", "{\"input\": \"\xff\"}", "application/json"), 400, "JSON");
  EXPECT_EQ(classify("&labels=cat").status, 200) << "everything back to normal";
}

/// The original programs' probabilities, over HTTP.
class ServeWordsGolden : public testing::TestWithParam<const char*> {};

TEST_P(ServeWordsGolden, AnswersAsTheReferenceDoes) {
  const auto folder = test::shared() / "goldens/text" / GetParam();
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "needs ../shared/goldens/text";
  const auto golden = test::read_golden(folder / "expected.safetensors");
  const Json prompts = Json::parse(read_file((folder / "prompts.json").string()));
  const Served served({"-m", folder.string()});
  const auto& expected = golden.at("class_probabilities");
  const size_t count = prompts["labels"].size();
  for (const size_t i : {size_t{1}, size_t{2}}) {
    const std::string file = (folder / prompts["images"][i].get<std::string>()).string();
    const Json body{{"images", {in_base64(read_file(file))}},
                    {"labels", prompts["labels"]},
                    {"template", prompts["templates"]},
                    {"k", 100}};
    const Answer answer = served.post("/v1/classify", body.dump(), "application/json");
    ASSERT_EQ(answer.status, 200) << answer.body;
    const Json predictions = Json::parse(answer.body)["images"][0]["predictions"];
    ASSERT_EQ(predictions.size(), count);
    for (const Json& one : predictions)
      EXPECT_NEAR(one["probability"].get<float>(),
                  expected.values[i * count + one["class"].get<size_t>()], 1e-5f);

    const Answer own = served.ask(
        form("/v1/classify?labels=a+cat,dog,the+birds&logits=1", {{file, read_file(file)}}));
    EXPECT_EQ(Json::parse(own.body)["images"],
              Json::parse(
                  classified(folder.string(), {file}, {"--logits", "--labels", kLabels}))["images"])
        << "as `vit classify --json`, to the last digit";
  }
}

INSTANTIATE_TEST_SUITE_P(Families, ServeWordsGolden,
                         testing::Values("hf_clip", "hf_clip_eos", "hf_siglip", "hf_siglip2",
                                         "open_clip_siglip"));

}  // namespace
}  // namespace vit::tools
