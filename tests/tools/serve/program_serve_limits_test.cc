/// What a service must withstand: too much, too slow, too long, gone, stopped, reloaded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/tools/serve/served.h"

namespace vit::tools {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

/// A request that keeps one worker busy for a while.
Ask long_request(size_t images = 200) {
  std::vector<std::pair<std::string, std::string>> files;
  for (size_t i = 0; i < images; ++i)
    files.emplace_back("i" + std::to_string(i), noise_bmp(120, 120, static_cast<unsigned>(i)));
  return form("/v1/classify?k=1", files);
}

const std::vector<std::string> kOneWorker{"-m",  golden("hf_vit"), "--threads", "1", "--max-images",
                                          "500", "--max-body",     "64"};

std::vector<std::string> one_worker(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = kOneWorker;
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// Waits until the condition holds: the program runs independently.
template <typename Condition>
void wait_until(const Condition& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

TEST(ServeLimits, RefusesBodiesThatAreTooLarge) {
  const Served served({"-m", golden("hf_vit"), "--max-body", "1"});
  const std::string large(3 << 20, 'x');
  const Answer refused = served.post("/v1/classify", large);
  EXPECT_EQ(refused.status, 413);
  EXPECT_THAT(refused.body, HasSubstr("this server reads at most 1048576 bytes"));
  Connection chunked(served.port());
  chunked.send(
      "POST /v1/classify HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n");
  chunked.send(large.substr(0, 0x200000));
  EXPECT_EQ(chunked.read().status, 413);
  // The length in the head is enough to refuse a body.
  Connection announced(served.port());
  announced.send("POST /v1/classify HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n");
  EXPECT_EQ(announced.read().status, 413);
  EXPECT_EQ(served.post("/v1/classify", read_file(golden_image("hf_vit"))).status, 200);
}

TEST(ServeLimits, RefusesImagesWhenTheQueueIsFull) {
  const Served served(one_worker({"--queue", "4"}));
  std::atomic<bool> refused = false;
  std::thread client([&] {
    for (bool answered = false; !answered || !refused;) {
      const Answer answer = served.ask(long_request());
      if (answer.status == 429) continue;  // larger than the queue, it needs an empty one
      EXPECT_EQ(answer.status, 200);
      EXPECT_EQ(Json::parse(answer.body)["images"].size(), 200u);
      answered = true;
    }
  });
  while (!refused) {
    const Answer answer = served.post("/v1/classify", noise_bmp(20, 20, 7), "image/bmp");
    if (answer.status == 429) {
      EXPECT_EQ(answer.headers.at("retry-after"), "1");
      refused = true;
    } else {
      EXPECT_EQ(answer.status, 200);
    }
  }
  client.join();
  EXPECT_EQ(served.post("/v1/classify", noise_bmp(20, 20, 7), "image/bmp").status, 200);
}

TEST(ServeLimits, GivesUpAnAnswerThatTakesTooLong) {
  // The bundled model takes much longer than that for 200 images, on any machine.
  const Served served(
      {"--threads", "1", "--max-images", "500", "--max-body", "64", "--time-limit", "0.02"});
  const Answer answer = served.ask(long_request());
  EXPECT_EQ(answer.status, 504);
  EXPECT_THAT(answer.body, HasSubstr("the answer was not ready in time"));
  wait_until([&] { return served.metric("vit_queue_images") == 0.0; });
}

TEST(ServeLimits, FreesTheWorkOfAClientThatLeaves) {
  const Served served(one_worker({}));
  const auto ended = [&](const char* status) {
    return served.metric(std::string("vit_requests_total{route=\"/v1/classify\",status=\"") +
                         status + "\"}");
  };
  // The server may be done before the client has left: then another client tries.
  for (double sent = 1.0; ended("499") == 0.0; ++sent) {
    {
      Connection connection(served.port());
      connection.send(bytes_of(long_request()));
      wait_until([&] { return served.metric("vit_queue_images") > 0.0 || ended("200") == sent; });
    }
    wait_until([&] { return ended("200") + ended("499") == sent; });
  }
  wait_until([&] { return served.metric("vit_queue_images") == 0.0; });
}

TEST(ServeLimits, ClosesConnectionsThatAreSlowOrIdle) {
  const Served impatient({"-m", golden("hf_vit"), "--idle-limit", "0.2"});
  Connection idle(impatient.port());
  idle.wait_for_end();
  const Served served({"-m", golden("hf_vit"), "--receive-limit", "0.3"});
  Connection slow_head(served.port()), slow_body(served.port());
  slow_head.send("GET /health/live HT");
  slow_body.send("POST /v1/classify HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc");
  EXPECT_EQ(slow_head.read().status, 408);
  EXPECT_EQ(slow_body.read().status, 408);
  slow_head.wait_for_end();
  slow_body.wait_for_end();
}

TEST(ServeLimits, ASlowClientDelaysNobodyElse) {
  const Served served({"-m", golden("hf_vit"), "--queue", "200", "--receive-limit", "3600"});
  std::vector<Connection> slow;
  for (int i = 0; i < 100; ++i) {
    slow.emplace_back(served.port());
    slow.back().send("POST /v1/classify HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n");
    slow.back().send("x");
  }
  EXPECT_EQ(served.post("/v1/classify", noise_bmp(20, 20, 7), "image/bmp").status, 200);
  for (auto& connection : slow) connection.send(std::string(99, 'x'));
  for (auto& connection : slow) EXPECT_EQ(connection.read().status, 415);
}

TEST(ServeLimits, ClosesIdleConnectionsForNewOnes) {
  const Served served({"-m", golden("hf_vit"), "--max-connections", "4"});
  std::vector<Connection> idle;
  for (int i = 0; i < 4; ++i) {
    idle.emplace_back(served.port());
    EXPECT_EQ(idle.back().ask({.target = "/health/live"}).status, 200);
  }
  EXPECT_EQ(served.get("/health/live").status, 200);
  idle.front().wait_for_end();  // the longest idle
  EXPECT_EQ(idle.back().ask({.target = "/health/live"}).status, 200);
}

TEST(ServeLimits, SaysSoWhenAllConnectionsAreBusy) {
  const Served served({"-m", golden("hf_vit"), "--max-connections", "2"});
  Connection first(served.port()), second(served.port());
  for (auto* one : {&first, &second}) {
    EXPECT_EQ(one->ask({.target = "/health/live"}).status, 200);
    one->send("POST /v1/classify HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n");
  }
  Answer answer;
  wait_until([&] { return (answer = served.get("/health/live")).status == 503; });
  EXPECT_THAT(answer.body, HasSubstr("too many connections"));
  EXPECT_EQ(answer.headers.at("retry-after"), "1");
  first.send("x");
  EXPECT_EQ(first.read().status, 415);
  const Answer metrics = first.ask({.target = "/metrics"});
  EXPECT_THAT(metrics.body, HasSubstr("\nvit_refused_connections_total "));
  EXPECT_THAT(metrics.body, Not(HasSubstr("\nvit_refused_connections_total 0\n")));
}

TEST(ServeLimits, SurvivesMalformedHttp) {
  const Served served({"-m", golden("hf_vit")});
  const std::vector<std::string> broken{
      "\r\n\r\n\r\n",
      "GET\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      "GET /health/live HTTP/1.1\r\nno colon\r\n\r\n",
      "POST /v1/classify HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
      "POST /v1/classify HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
      "POST /v1/classify HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      std::string("\0\1\2\3\4\5\r\n\r\n", 10),
      "GET /" + std::string(100'000, 'a') + " HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nA: " + std::string(100'000, 'a') + "\r\n\r\n",
  };
  for (const auto& bytes : broken) {
    Connection connection(served.port());
    connection.send(bytes);
    const int status = connection.read().status;
    EXPECT_TRUE(status == 400 || status == 431) << status << ": " << bytes.substr(0, 60);
  }
  double counted = 0.0;
  for (const auto* route : {"other", "/v1/classify"})
    for (const auto* status : {"400", "431"})
      counted += served.metric(std::string("vit_requests_total{route=\"") + route + "\",status=\"" +
                               status + "\"}");
  EXPECT_EQ(counted, static_cast<double>(broken.size())) << "each of them is in log and metrics";
  EXPECT_EQ(served.get("/health/live").status, 200);
}

/// Whether SIGTERM came while the images were answered, and not when they were done already.
bool stopped_under_way() {
  Served served(one_worker({}));
  Connection waiting(served.port()), busy(served.port());
  EXPECT_EQ(waiting.ask({.target = "/health/live"}).status, 200);
  busy.send(bytes_of(long_request()));
  const std::string done = "vit_requests_total{route=\"/v1/classify\",status=\"200\"}";
  wait_until([&] { return served.metric("vit_queue_images") > 0.0 || served.metric(done) == 1.0; });
  served.send(SIGTERM);
  const Answer answer = busy.read();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(Json::parse(answer.body)["images"].size(), 200u);
  waiting.wait_for_end();
  EXPECT_EQ(served.wait().status, 0) << served.messages();
  return answer.headers.contains("connection") && answer.headers.at("connection") == "close";
}

TEST(ServeStop, FinishesWhatRunsAndTakesNothingNew) {
  bool under_way = false;
  for (int tries = 0; tries < 100 && !under_way && !HasFailure(); ++tries)
    under_way = stopped_under_way();
  EXPECT_TRUE(under_way);
}

TEST(ServeStop, ATakenPortIsAnErrorAtOnce) {
  const Served served({"-m", golden("hf_vit")});
  const Finished second =
      run({"serve", "-m", "no such model", "--port", std::to_string(served.port())});
  EXPECT_EQ(second.status, 1);
  EXPECT_THAT(second.err, HasSubstr("cannot listen here: Address already in use"));
}

/// Requests from several threads, each of which must get the answer to its own question.
struct Load {
  std::atomic<size_t> answered = 0;
  std::atomic<size_t> wrong = 0;
  std::atomic<bool> stop = false;

  void run(const Served& served, unsigned seed) {
    Connection connection(served.port());
    for (unsigned i = 0; !stop; ++i) {
      const std::string name = "s" + std::to_string(seed) + "n" + std::to_string(i);
      const Answer answer = connection.ask({.method = "POST",
                                            .target = "/v1/classify?k=1&name=" + name,
                                            .body = noise_bmp(20 + seed, 20, i),
                                            .type = "image/bmp"});
      const bool right =
          answer.status == 200 && Json::parse(answer.body)["images"][0]["file"] == name;
      ++(right ? answered : wrong);
    }
  }
};

TEST(ServeReload, LosesNoRequest) {
  const Folder folder;
  const std::string model = folder.path("model");
  std::filesystem::copy(golden("hf_vit"), model);
  Served served({"-m", "it=" + model, "--queue", "100"});
  const std::string image = read_file(golden_image("hf_vit"));
  const Json before = Json::parse(served.post("/v1/classify", image).body);
  Load load;
  std::vector<std::thread> clients;
  for (unsigned i = 0; i < 4; ++i) clients.emplace_back([&, i] { load.run(served, i); });
  for (int round = 1; round <= 3; ++round) {
    served.send(SIGHUP);
    wait_until([&] { return served.metric("vit_reloads_total{result=\"done\"}") == round; });
  }
  // Another model in the same place.
  std::filesystem::remove_all(model);
  std::filesystem::copy(golden("timm_vit"), model);
  served.send(SIGHUP);
  wait_until([&] { return served.metric("vit_reloads_total{result=\"done\"}") == 4; });
  const Json after = Json::parse(served.post("/v1/classify", image).body);
  EXPECT_NE(after["images"][0]["predictions"], before["images"][0]["predictions"]);
  // One that cannot be loaded changes nothing.
  std::filesystem::remove_all(model);
  served.send(SIGHUP);
  wait_until([&] { return served.metric("vit_reloads_total{result=\"failed\"}") == 1; });
  EXPECT_EQ(Json::parse(served.post("/v1/classify", image).body), after);
  load.stop = true;
  for (auto& client : clients) client.join();
  EXPECT_EQ(load.wrong, 0u);
  EXPECT_GT(load.answered, 0u);
  EXPECT_EQ(served.stop().status, 0);
}

TEST(ServeReload, AnswersAreNeverCrossed) {
  const Served served({"-m", "a=" + golden("hf_vit"), "-m", "b=" + golden("timm_vit"), "--threads",
                       "3", "--queue", "500"});
  const auto question = [&](unsigned i) {
    return Ask{.method = "POST",
               .target = std::string("/v1/classify?k=3&model=") + (i % 2 == 0 ? "a" : "b"),
               .body = noise_bmp(30, 30, i),
               .type = "image/bmp"};
  };
  std::vector<std::string> expected;
  for (unsigned i = 0; i < 40; ++i) expected.push_back(served.ask(question(i)).body);
  std::atomic<size_t> crossed = 0;
  std::vector<std::thread> clients;
  for (unsigned c = 0; c < 8; ++c)
    clients.emplace_back([&, c] {
      Connection connection(served.port());
      for (unsigned i = 0; i < 120; ++i) {
        const unsigned n = (i * 7 + c * 13) % 40;
        if (connection.ask(question(n)).body != expected[n]) ++crossed;
      }
    });
  for (auto& client : clients) client.join();
  EXPECT_EQ(crossed, 0u);
}

}  // namespace
}  // namespace vit::tools
