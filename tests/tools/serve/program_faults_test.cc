/// Clients that behave badly, and signals under load: afterwards everything is back to normal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "tests/tools/serve/served.h"

namespace vit::tools {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

template <typename Condition>
void wait_until(const Condition& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

/// The server answers, and nothing of earlier requests is left.
void expect_normal(const Served& served) {
  wait_until([&] { return served.metric("vit_connections") == 1.0; });
  wait_until([&] { return served.metric("vit_queue_images") == 0.0; });
  // A worker counts an image as done only after the answer.
  wait_until([&] { return served.metric("vit_running_images") == 0.0; });
  EXPECT_EQ(served.post("/v1/classify", noise_bmp(20, 20, 7), "image/bmp").status, 200);
}

TEST(ServeFaults, ClientsThatSendAByteASecondDelayNobodyAndAreClosed) {
  const Served served({"-m", golden("hf_vit"), "--receive-limit", "3"});
  const std::string request = bytes_of(
      {.method = "POST", .target = "/v1/classify", .body = std::string(100, 'x'), .type = ""});
  const size_t head = request.size() - 100;
  std::vector<Connection> slow;
  for (int i = 0; i < 20; ++i) {
    slow.emplace_back(served.port());
    if (i % 2 == 0) slow.back().send(request.substr(0, head));  // slow from its body on
  }
  for (size_t second = 0; second < 3; ++second) {
    for (size_t i = 0; i < slow.size(); ++i)
      slow[i].send(request.substr(i % 2 == 0 ? head + second : second, 1));
    EXPECT_EQ(served.post("/v1/classify", noise_bmp(20, 20, 7), "image/bmp").status, 200);
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  for (auto& one : slow) EXPECT_EQ(one.read().status, 408);
  slow.clear();
  expect_normal(served);
}

TEST(ServeFaults, AbortedUploadsGiveTheirMemoryBack) {
  Served served({"-m", golden("hf_vit"), "--max-body", "1", "--max-buffered", "1"});
  const std::string body(1 << 20, 'x');
  const std::string request =
      bytes_of({.method = "POST", .target = "/v1/classify", .body = body, .type = "image/png"});
  for (int i = 0; i < 30; ++i) {
    Connection connection(served.port());
    connection.send(request.substr(0, request.size() / 2));
  }
  wait_until([&] { return served.metric("vit_connections") == 1.0; });
  EXPECT_EQ(served.post("/v1/classify", body).status, 415) << "read as a whole";
  expect_normal(served);
  EXPECT_EQ(served.stop().status, 0);
  EXPECT_THAT(served.log(), HasSubstr("\"status\":499"));
}

TEST(ServeFaults, ClientsThatDoNotReadTheirAnswersAreClosed) {
  const Served served({"-m", golden("timm_vit"), "--receive-limit", "0.5", "--queue", "1000"});
  const std::string image = read_file(golden_image("timm_vit"));
  const std::string request = bytes_of(
      {.method = "POST", .target = "/v1/attention?format=html", .body = image, .type = ""});
  std::vector<Connection> lazy;
  for (int i = 0; i < 4; ++i) lazy.emplace_back(served.port());
  // More than the system's buffers hold; sending stops when the server stops reading.
  for (auto& connection : lazy)
    for (int i = 0; i < 400 && connection.send_now(request); ++i) continue;
  wait_until([&] { return served.metric("vit_connections") == 1.0; });
  expect_normal(served);
}

TEST(ServeFaults, HoldsTenThousandIdleConnections) {
  constexpr size_t kIdle = 10'000;
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_max < kIdle + 1000)
    GTEST_SKIP() << "this process may have " << limit.rlim_max << " open files only";
  const rlimit before = limit;
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  {
    const Served served(
        {"-m", golden("hf_vit"), "--max-connections", "12000", "--idle-limit", "3600"});
    std::vector<Connection> idle;
    idle.reserve(kIdle);
    for (size_t i = 0; i < kIdle; ++i) idle.emplace_back(served.port());
    wait_until([&] { return served.metric("vit_connections") >= double{kIdle}; });
    EXPECT_EQ(served.post("/v1/classify", noise_bmp(20, 20, 7), "image/bmp").status, 200);
    for (const size_t i : {size_t{0}, kIdle / 2, kIdle - 1})
      EXPECT_EQ(idle[i].ask({.target = "/health/live"}).status, 200);
    idle.clear();
    expect_normal(served);
  }
  setrlimit(RLIMIT_NOFILE, &before);
}

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

TEST(ServeFaults, ImageBombsAreRefusedByTheirHeads) {
  const Served served({"-m", golden("hf_vit")});
  const std::string png = "\x89PNG\r\n\x1a\n" + big_endian(13) + "IHDR" + big_endian(60'000) +
                          big_endian(60'000) + std::string("\x08\x02\0\0\0", 5) +
                          std::string(4, '\0');
  std::string jpeg(
      "\xff\xd8\xff\xc0\0\x11\x08\xff\xff\xff\xff\x03\x01\x22\0\x02\x11\x01\x03\x11\x01", 21);
  std::string bmp = noise_bmp(20, 20, 1);
  bmp.replace(18, 4, std::string("\xff\xff\xff\x7f", 4));
  bmp.replace(22, 4, std::string("\xff\xff\xff\x7f", 4));
  for (const auto& bomb : {png, jpeg, bmp}) {
    const Answer answer = served.post("/v1/classify", bomb, "image/png");
    EXPECT_TRUE(answer.status == 413 || answer.status == 422) << answer.status << answer.body;
  }
  // Several in one request are refused like single ones.
  const Answer many = served.ask(form("/v1/classify", {{"a", png}, {"b", png}, {"c", png}}));
  EXPECT_EQ(many.status, 200);
  const Json answers = Json::parse(many.body);
  for (const Json& one : answers["images"])
    EXPECT_THAT(one["error"].get<std::string>(), HasSubstr("too large: 60000x60000"));
  expect_normal(served);
}

TEST(ServeFaults, PathTricksFindNothing) {
  const Served served({"-m", golden("hf_vit")});
  for (const auto* target : {"/../../../../etc/passwd",
                             "/..%2f..%2fetc/passwd",
                             "/%2e%2e/%2e%2e/etc/passwd",
                             "//etc/passwd",
                             "/v1/models/..%2f..%2f..%2fetc%2fpasswd",
                             "/v1/models/../../etc/passwd",
                             "/page.css/../page.html",
                             "/v1//classify",
                             "/v1/classify/",
                             "/V1/CLASSIFY",
                             "/%00",
                             "/v1/models/%00",
                             "/page.js%00.html",
                             "http://127.0.0.1/v1/models",
                             "*",
                             "",
                             "/%",
                             "/%zz",
                             "/v1/models/{model}",
                             "\\..\\..\\etc\\passwd"}) {
    Connection connection(served.port());
    connection.send("GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n\r\n");
    const Answer answer = connection.read();
    EXPECT_TRUE(answer.status == 404 || answer.status == 400) << target << answer.status;
    EXPECT_THAT(answer.body, Not(HasSubstr("root:"))) << target;
  }
  expect_normal(served);
}

TEST(ServeFaults, RandomBytesAreAnsweredOrClosed) {
  const Served served({"-m", golden("hf_vit"), "--receive-limit", "0.2"});
  const std::string image = noise_bmp(12, 12, 1);
  const std::vector<std::string> good{
      bytes_of({.method = "POST", .target = "/v1/classify?k=2", .body = image, .type = ""}),
      bytes_of(form("/v1/classify", {{"a", image}, {"b", image}})),
      bytes_of({.method = "POST",
                .target = "/v1/classify",
                .body = R"({"images": ["QUJD"], "k": 3, "labels": ["a", "b"]})",
                .type = "application/json"}),
      bytes_of({.method = "POST",
                .target = "/v2/models/x/infer",
                .body = R"({"inputs": [{"name": "image", "datatype": "BYTES", "shape": [1]}]})",
                .type = "application/json"}),
      "POST /v1/classify HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"
      "\r\n"};
  std::mt19937 random(20);
  for (int round = 0; round < 400; ++round) {
    std::string bytes = good[random() % good.size()];
    for (auto changes = random() % 6 + 1; changes > 0; --changes) {
      const size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes.erase(at, random() % 20);
          break;
        case 2:
          bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 40));
          break;
        default:
          bytes[at] ^= static_cast<char>(1u << random() % 8);
          break;
      }
      if (bytes.empty()) bytes = "x";
    }
    Connection connection(served.port());
    connection.send(bytes);
    if (round % 2 == 0) connection.finish();
    const int status = connection.read().status;
    EXPECT_TRUE(status == 0 || (status >= 100 && status < 504)) << status;
  }
  expect_normal(served);
}

TEST(ServeFaults, WrongTokensAreRefusedEverywhere) {
  const Folder folder;
  const std::string tokens = folder.write("tokens", "the-only-token-of-this-test\n");
  std::filesystem::permissions(tokens, std::filesystem::perms(0600));
  const Served served({"-m", golden("hf_vit"), "--token-file", tokens});
  std::mt19937 random(5);
  Connection connection(served.port());
  for (int i = 0; i < 200; ++i) {
    std::string token = "the-only-token-of-this-test";
    token[random() % token.size()] ^= 1;
    if (i % 3 == 0) token.resize(random() % 8000);
    std::ranges::replace_if(
        token, [](char c) { return c <= ' ' || c == 127; }, 'x');
    const Answer answer =
        connection.ask({.target = "/v1/models", .headers = {{"Authorization", "Bearer " + token}}});
    ASSERT_EQ(answer.status, 401);
    EXPECT_THAT(answer.body, Not(HasSubstr("hf_vit")));
  }
  // The body is not read.
  Ask upload{.method = "POST", .target = "/v1/classify", .body = std::string(8 << 20, 'x')};
  EXPECT_EQ(served.ask(upload).status, 401);
  const Answer right =
      connection.ask({.target = "/v1/models",
                      .headers = {{"Authorization", "Bearer the-only-token-of-this-test"}}});
  EXPECT_EQ(right.status, 200);
}

/// Requests one after the other, until the server closes the connection or one fails.
struct Client {
  explicit Client(std::uint16_t port) : connection(port) {}

  Connection connection;
  size_t answered = 0, refused = 0, cut = 0, crossed = 0;

  void run(unsigned seed) {
    for (unsigned i = 0;; ++i) {
      const std::string name = "s" + std::to_string(seed) + "n" + std::to_string(i);
      const bool sent = connection.send(bytes_of({.method = "POST",
                                                  .target = "/v1/classify?k=1&name=" + name,
                                                  .body = noise_bmp(40 + seed, 40, i),
                                                  .type = "image/bmp"}));
      const Answer answer = connection.read();
      if (answer.status == 0) {
        cut += sent && connection.has_part() ? 1 : 0;
        return;
      }
      if (answer.status == 200)
        ++(Json::parse(answer.body)["images"][0]["file"] == name ? answered : crossed);
      else
        ++refused;
      if (answer.headers.contains("connection") && answer.headers.at("connection") == "close")
        return;
    }
  }
};

TEST(ServeFaults, SigtermUnderLoadAnswersWhatItHasReceived) {
  for (int round = 0; round < 3; ++round) {
    Served served({"-m", golden("hf_vit"), "--queue", "100"});
    std::vector<Client> clients;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) clients.emplace_back(served.port());
    for (unsigned i = 0; i < clients.size(); ++i)
      threads.emplace_back([&, i] { clients[i].run(i); });
    const std::string done = "vit_requests_total{route=\"/v1/classify\",status=\"200\"}";
    wait_until([&] { return served.metric(done) > 20.0; });
    served.send(SIGTERM);
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(served.wait().status, 0) << served.messages();
    size_t answered = 0;
    for (const Client& client : clients) {
      answered += client.answered;
      EXPECT_EQ(client.crossed, 0u);
      EXPECT_EQ(client.cut, 0u) << "an answer without its end";
    }
    // What the log calls answered has arrived, all of it.
    std::istringstream lines(served.log());
    size_t logged = 0;
    for (std::string line; std::getline(lines, line);) {
      const Json json = Json::parse(line);
      if (json["target"].get<std::string>().starts_with("/v1/classify"))
        logged += json["status"] == 200 ? 1 : 0;
    }
    EXPECT_EQ(logged, answered);
  }
}

}  // namespace
}  // namespace vit::tools
