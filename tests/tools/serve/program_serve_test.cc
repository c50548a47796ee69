/// `vit serve` as its clients see it: answers, errors, tokens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "tests/tools/serve/served.h"

namespace vit::tools {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

std::string message_of(const Answer& answer) {
  return Json::parse(answer.body)["error"]["message"];
}

TEST(Serve, AnswersAsVitClassifyDoesToTheLastDigit) {
  const std::string model = golden("hf_vit"), image = golden_image("hf_vit");
  const Served served({"-m", model});
  const std::string bytes = read_file(image);
  const Answer raw = served.post("/v1/classify?k=3&name=" + image, bytes);
  EXPECT_EQ(raw.status, 200);
  EXPECT_EQ(raw.headers.at("content-type"), "application/json");
  EXPECT_EQ(raw.body, classified(model, {image}, {"-k", "3"}));
  EXPECT_EQ(served.post("/v1/classify?logits=true&name=" + image, bytes).body,
            classified(model, {image}, {"--logits"}));

  const std::string other = golden_image("timm_vit");
  const std::string both = classified(model, {image, other}, {"-k", "2"});
  EXPECT_EQ(served.ask(form("/v1/classify?k=2", {{image, bytes}, {other, read_file(other)}})).body,
            both);
  const Json json{
      {"k", 2},
      {"images",
       {{{"name", image}, {"data", in_base64(bytes)}},
        {{"name", other}, {"data", "data:image/png;base64," + in_base64(read_file(other))}}}}};
  EXPECT_EQ(served.post("/v1/classify", json.dump(), "application/json").body, both);
}

TEST(Serve, AnswersCurlAsItIsMostlyCalled) {
  const std::string model = golden("hf_vit"), image = golden_image("hf_vit");
  const Served served({"-m", model});
  const std::string url = "http://127.0.0.1:" + std::to_string(served.port()) + "/v1/classify?k=1";
  Call call;
  call.program = "curl";
  call.arguments = {"-sS", "--noproxy", "*", "--data-binary", "@" + image, url + "&name=" + image};
  const Finished plain = run(call);
  if (plain.status == 127) GTEST_SKIP() << "no curl";
  EXPECT_EQ(plain.out, classified(model, {image}, {"-k", "1"})) << plain.err;
  call.arguments = {"-sS", "--noproxy", "*", "-F", "image=@" + image + ";filename=" + image, url};
  EXPECT_EQ(run(call).out, classified(model, {image}, {"-k", "1"}));
}

TEST(Serve, LeavesOutClassesBelowTheThreshold) {
  const Served served({"-m", golden("hf_vit")});
  const std::string bytes = read_file(golden_image("hf_vit"));
  const Json all = Json::parse(served.post("/v1/classify?k=100", bytes).body);
  const Json& predictions = all["images"][0]["predictions"];
  ASSERT_GE(predictions.size(), 3u);
  const std::string bound = predictions[1]["probability"].dump();
  const Json some = Json::parse(served.post("/v1/classify?k=100&threshold=0.99999", bytes).body);
  EXPECT_TRUE(some["images"][0]["predictions"].empty());
  const Json few = Json::parse(served.post("/v1/classify?k=100&threshold=" + bound, bytes).body);
  EXPECT_LE(few["images"][0]["predictions"].size(), 2u);
  EXPECT_FALSE(few["images"][0]["predictions"].empty());
}

TEST(Serve, NamesEachModelAndAnswersWithTheOneAskedFor) {
  const Served served({"-m", golden("hf_vit"), "-m", "other=" + golden("timm_vit")});
  const Json models = Json::parse(served.get("/v1/models").body);
  ASSERT_EQ(models["data"].size(), 2u);
  EXPECT_EQ(models["data"][1]["id"], "other");
  const std::string bytes = read_file(golden_image("timm_vit"));
  const Json first = Json::parse(served.post("/v1/classify", bytes).body);
  const Json second = Json::parse(served.post("/v1/classify?model=other", bytes).body);
  EXPECT_EQ(first["model"], models["data"][0]["id"]);
  EXPECT_EQ(second["model"], "other");
  EXPECT_EQ(second["images"][0]["predictions"],
            Json::parse(classified(golden("timm_vit"),
                                   {golden_image("timm_vit")}))["images"][0]["predictions"]);
  const Answer unknown = served.post("/v1/classify?model=none", bytes);
  EXPECT_EQ(unknown.status, 404);
  EXPECT_THAT(message_of(unknown), HasSubstr("there is no model 'none'; this server has "));
  EXPECT_EQ(Json::parse(served.get("/v1/models/other").body)["id"], "other");
}

TEST(Serve, RefusesTwoModelsOfOneName) {
  const Finished ended =
      run({"serve", "--port", "0", "-m", golden("hf_vit"), "-m", golden("hf_vit")});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, HasSubstr("two models are called"));
}

struct WrongRequest {
  Ask ask;
  int status;
  std::string message;
};

TEST(Serve, SaysWhatIsWrongWithARequest) {
  const Served served({"-m", golden("hf_vit"), "--max-images", "2", "--max-pixels", "10k"});
  const std::string image = read_file(golden_image("hf_vit"));
  const auto post = [](const std::string& target, const std::string& body,
                       const std::string& type) {
    return Ask{.method = "POST", .target = target, .body = body, .type = type};
  };
  const std::string url = "/v1/classify";
  const std::vector<WrongRequest> cases{
      {{.target = "/nothing"}, 404, "there is nothing at /nothing"},
      {{.target = "/../../etc/passwd"}, 404, "there is nothing at /../../etc/passwd"},
      {{.target = "/%2e%2e/%00"}, 400, "the address of the request is malformed"},
      {{.target = url}, 405, "/v1/classify takes POST, not GET"},
      {post(url, "", "image/png"), 415, "image: the file is empty"},
      {post(url, "no image at all", "image/png"), 415, "image: not a JPEG"},
      {post(url, image.substr(0, image.size() / 2), "image/png"), 422, "image: "},
      {post(url, "x", "video/mp4"), 415, "a body of the type 'video/mp4' is not read"},
      {post(url, "{", "application/json"), 400, "the body is not valid JSON: at byte 2"},
      {post(url, std::string(100'000, '['), "application/json"), 400,
       "the JSON is nested more than 32 levels deep"},
      {post(url, "{}", "application/json"), 400, "the JSON has no array \"images\""},
      {post(url, R"({"images": []})", "application/json"), 400, "there is no image in the request"},
      {post(url, R"({"images": [7]})", "application/json"), 400, "images[0]: expected base64 text"},
      {post(url, R"({"images": ["!"]})", "application/json"), 400, "images[0]: not valid base64"},
      {post(url, R"({"images": ["http://a/b.png"]})", "application/json"), 400,
       "images of other servers are not fetched"},
      {post(url, R"({"images": ["", "", ""]})", "application/json"), 413,
       "3 images in one request; at most 2 are answered"},
      {post(url, "x", "multipart/form-data"), 400, "has no boundary"},
      {post(url, "x", "multipart/form-data; boundary=b"), 400, "its boundary is not in it"},
      {post(url + "?k=0", image, "image/png"), 400,
       "'k' is '0', expected a whole number from 1 to 1000000"},
      {post(url + "?threshold=2", image, "image/png"), 400, "'threshold' is '2'"},
      {post(url, noise_bmp(200, 200, 1), "image/bmp"), 413,
       "image: the image is too large: 200x200 pixels; the limit of this server is 10000 pixels"},
  };
  for (const auto& [ask, status, message] : cases) {
    const Answer answer = served.ask(ask);
    EXPECT_EQ(answer.status, status) << ask.target << " " << ask.body.substr(0, 40);
    EXPECT_THAT(message_of(answer), HasSubstr(message));
  }
  EXPECT_EQ(served.ask({.target = url}).headers.at("allow"), "POST");
  Ask packed = post(url, image, "image/png");
  packed.headers = {{"Content-Encoding", "gzip"}};
  EXPECT_EQ(served.ask(packed).status, 415);
  Ask foreign = post(url, image, "image/png");
  foreign.headers = {{"Origin", "https://example.org"}};
  EXPECT_EQ(served.ask(foreign).status, 403);
  EXPECT_EQ(served.post(url, image).status, 200) << "everything back to normal";
}

TEST(Serve, AnswersTheGoodImagesAmongBadOnes) {
  const std::string model = golden("hf_vit"), image = golden_image("hf_vit");
  const Served served({"-m", model});
  const Answer answer =
      served.ask(form("/v1/classify", {{"bad.png", "nonsense"}, {image, read_file(image)}}));
  EXPECT_EQ(answer.status, 200);
  const Json images = Json::parse(answer.body)["images"];
  EXPECT_THAT(images[0]["error"], HasSubstr("bad.png: not a JPEG"));
  EXPECT_EQ(images[1], Json::parse(classified(model, {image}))["images"][0]);
}

TEST(Serve, AnswersOnlyThoseWhoHaveAToken) {
  const Folder folder;
  const std::string tokens =
      folder.write("tokens", "first-token-of-many\n\nsecond-token-of-many\n");
  std::filesystem::permissions(tokens, std::filesystem::perms(0600));
  const Served served({"-m", golden("hf_vit"), "--token-file", tokens});
  const auto status = [&](const std::string& header) {
    Ask ask{.target = "/v1/models"};
    if (!header.empty()) ask.headers = {{"Authorization", header}};
    return served.ask(ask).status;
  };
  EXPECT_EQ(status("Bearer first-token-of-many"), 200);
  EXPECT_EQ(status("bearer second-token-of-many"), 200);
  for (const auto* wrong :
       {"", "Bearer", "Bearer ", "Bearer first-token-of-man", "Bearer first-token-of-manyy",
        "Basic first-token-of-many", "first-token-of-many"})
    EXPECT_EQ(status(wrong), 401) << wrong;
  EXPECT_EQ(served.get("/metrics").status, 401);
  EXPECT_EQ(served.get("/nothing").status, 401) << "who has no token learns nothing";
  EXPECT_EQ(served.get("/health/live").status, 200);
  EXPECT_EQ(served.get("/v1/models").headers.at("www-authenticate"), "Bearer");
}

TEST(Serve, RefusesATokenFileThatProtectsNothing) {
  const Folder folder;
  const auto error = [&](const std::string& text, int mode) {
    const std::string file = folder.write("tokens", text);
    std::filesystem::permissions(file, std::filesystem::perms(mode));
    const Finished ended =
        run({"serve", "--port", "0", "-m", golden("hf_vit"), "--token-file", file});
    EXPECT_EQ(ended.status, 1);
    return ended.err;
  };
  EXPECT_THAT(error("a-token-of-enough-letters\n", 0644), HasSubstr("chmod 600"));
  EXPECT_THAT(error("\n", 0600), HasSubstr("no token in this file"));
  EXPECT_THAT(error("short\n", 0600), HasSubstr("expected at least 16"));
}

TEST(Serve, CountsAndLogsEachRequest) {
  Served served({"-m", golden("hf_vit")});
  const std::string image = read_file(golden_image("hf_vit"));
  served.post("/v1/classify", image);
  served.ask(form("/v1/classify", {{"a", image}, {"b", image}}));
  served.get("/nothing?a=\"b");
  EXPECT_EQ(served.get("/health/ready").status, 200);
  EXPECT_EQ(served.metric("vit_requests_total{route=\"/v1/classify\",status=\"200\"}"), 2.0);
  EXPECT_EQ(served.metric("vit_requests_total{route=\"other\",status=\"404\"}"), 1.0);
  EXPECT_EQ(served.metric("vit_request_seconds_count{route=\"/v1/classify\"}"), 2.0);
  const std::string name = Json::parse(served.get("/v1/models").body)["data"][0]["id"];
  EXPECT_EQ(served.metric("vit_images_total{model=\"" + name + "\"}"), 3.0);
  EXPECT_EQ(served.metric("vit_model_request_seconds_count{model=\"" + name + "\"}"), 2.0);
  EXPECT_EQ(served.metric("vit_queue_images"), 0.0);
  const Finished ended = served.stop();
  EXPECT_EQ(ended.status, 0) << served.messages();
  std::istringstream lines(served.log());
  std::vector<Json> log;
  for (std::string line; std::getline(lines, line);) log.push_back(Json::parse(line));
  ASSERT_GE(log.size(), 3u);
  EXPECT_EQ(log[0]["target"], "/v1/classify");
  EXPECT_EQ(log[0]["status"], 200);
  EXPECT_EQ(log[0]["bytes_in"], image.size());
  EXPECT_EQ(log[1]["images"], 2);
  EXPECT_EQ(log[2]["status"], 404);
}

TEST(Serve, AnswersManyRequestsOfOneConnectionInTheirOrder) {
  const Served served({"-m", golden("hf_vit")});
  Connection connection(served.port());
  std::string all;
  for (int i = 0; i < 20; ++i)
    all += bytes_of({.method = "POST",
                     .target = "/v1/classify?name=number" + std::to_string(i),
                     .body = noise_bmp(20, 20, static_cast<unsigned>(i)),
                     .type = "image/bmp"});
  connection.send(all);
  for (int i = 0; i < 20; ++i) {
    const Answer answer = connection.read();
    ASSERT_EQ(answer.status, 200);
    EXPECT_EQ(Json::parse(answer.body)["images"][0]["file"], "number" + std::to_string(i));
  }
  const Answer head = connection.ask({.method = "HEAD", .target = "/health/live"});
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.at("content-length"), "19");
  EXPECT_EQ(connection.ask({.target = "/health/live"}).body, "{\"status\": \"live\"}\n");
}

TEST(Serve, TellsAClientThatWaitsToSendItsImage) {
  const Served served({"-m", golden("hf_vit")});
  Connection connection(served.port());
  const std::string image = read_file(golden_image("hf_vit"));
  const std::string bytes = bytes_of({.method = "POST",
                                      .target = "/v1/classify",
                                      .body = image,
                                      .headers = {{"Expect", "100-continue"}}});
  connection.send(bytes.substr(0, bytes.size() - image.size()));
  EXPECT_EQ(connection.read().status, 100);
  connection.send(image);
  EXPECT_EQ(connection.read().status, 200);
}

}  // namespace
}  // namespace vit::tools
