#include "tools/serve/http/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>

#include "tools/output/html.h"
#include "tools/serve/inputs.h"
#include "tools/serve/metrics.h"
#include "tools/serve/reloader.h"
#include "tools/serve/service.h"
#include "tools/serve/status_error.h"

namespace vit::tools::serve {
namespace {

TEST(Target, IsSplitAndDecodedOnce) {
  Request request;
  request.target = "/v1/a%20b%2520?x=1+2&y=%26&&z&=e";
  ASSERT_TRUE(parse_target(request));
  EXPECT_EQ(request.path, "/v1/a b%20");
  EXPECT_EQ(request.parameter("x"), "1 2");
  EXPECT_EQ(request.parameter("y"), "&");
  EXPECT_EQ(request.parameter("z"), "");
  EXPECT_EQ(request.parameter("none"), std::nullopt);
}

TEST(Reloads, NeverKeepTheCallerWaitingAndFollowEachOther) {
  std::latch begun{1}, open{1}, again{2};
  std::atomic<int> under_way = 0, most = 0, reloads = 0;
  {
    Reloader reloader([&] {
      most = std::max<int>(most, ++under_way);
      ++reloads;
      if (reloads == 1) {
        begun.count_down();
        open.wait();
      }
      --under_way;
      again.count_down();
    });
    reloader.start();
    begun.wait();
    for (int i = 0; i < 5; ++i) reloader.start();  // returns while the first is blocked
    open.count_down();
    again.wait();
  }
  EXPECT_EQ(most, 1);
  EXPECT_EQ(reloads, 2) << "what is asked for meanwhile is done once, afterwards";
}

TEST(Target, IsRefusedWhereItIsMalformed) {
  for (const auto* target : {"", "*", "http://a/b", "a", "/%", "/%4", "/%zz", "/a?b=%1", "/%00"}) {
    Request request;
    request.target = target;
    EXPECT_FALSE(parse_target(request)) << target;
  }
}

TEST(Base64, IsReadBackAndCheckedToItsEnd) {
  for (size_t length = 0; length < 20; ++length) {
    std::string bytes;
    for (size_t i = 0; i < length; ++i) bytes += static_cast<char>(i * 37 + 200);
    std::string text = base64(bytes);
    EXPECT_EQ(from_base64(text), bytes);
    while (text.ends_with('=')) text.pop_back();
    EXPECT_EQ(from_base64(text), bytes) << "without padding";
  }
  for (const auto* wrong : {"A", "AAAAA", "A=", "AA=A", "====", "AAA\n", "AA==AA=="})
    EXPECT_EQ(from_base64(wrong), std::nullopt) << wrong;
}

TEST(Tokens, AreComparedWhole) {
  const std::vector<std::string> hashes{token_hash("one"), token_hash("two")};
  EXPECT_TRUE(authorized("Bearer one", hashes));
  EXPECT_TRUE(authorized("BEARER two", hashes));
  EXPECT_FALSE(authorized("Bearer one ", hashes));
  EXPECT_FALSE(authorized("Bearer on", hashes));
  EXPECT_FALSE(authorized("one", hashes));
  EXPECT_FALSE(authorized("", hashes));
  EXPECT_FALSE(authorized("Bearer one", {}));
}

TEST(MetricsText, CountsInBucketsThatAddUp) {
  Metrics metrics;
  metrics.count_request("/a", 200, 0.004);
  metrics.count_request("/a", 200, 0.005);
  metrics.count_request("/a", 504, 99.0);
  metrics.count_images("m\"\\\n", 3, 0.5);
  const std::string text = metrics.text({.waiting = 4, .running = 2, .connections = 9});
  for (const auto* line : {"vit_requests_total{route=\"/a\",status=\"200\"} 2\n",
                           "vit_request_seconds_bucket{route=\"/a\",le=\"0.005\"} 2\n",
                           "vit_request_seconds_bucket{route=\"/a\",le=\"10\"} 2\n",
                           "vit_request_seconds_bucket{route=\"/a\",le=\"+Inf\"} 3\n",
                           "vit_request_seconds_count{route=\"/a\"} 3\n",
                           "vit_images_total{model=\"m\\\"\\\\\\n\"} 3\n", "vit_queue_images 4\n",
                           "vit_running_images 2\n", "vit_connections 9\n"})
    EXPECT_THAT(text, testing::HasSubstr(line));
}

TEST(Inputs, SettingsComeFromTheAddressBeforeTheBody) {
  Request request;
  request.target = "/?k=3";
  parse_target(request);
  const Json fields{{"k", 5}, {"threshold", 0.5f}, {"list", Json::array()}};
  EXPECT_EQ(setting(request, fields, "k"), "3");
  EXPECT_EQ(setting(request, fields, "threshold"), "0.5");
  EXPECT_EQ(setting(request, fields, "none"), std::nullopt);
  EXPECT_THROW(setting(request, fields, "list"), StatusError);
}

}  // namespace
}  // namespace vit::tools::serve
