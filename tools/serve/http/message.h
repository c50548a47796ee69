/// A request and its answer, independent of the connection.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vit::tools::serve {

using std::size_t;
using Clock = std::chrono::steady_clock;

struct Request {
  std::uint64_t id = 0;  ///< counts the requests of this server
  std::string peer;      ///< "127.0.0.1:40112"
  std::string method;
  std::string target;  ///< as sent
  std::string path;    ///< the target before '?', percent-decoded
  std::vector<std::pair<std::string, std::string>> query;
  std::vector<std::pair<std::string, std::string>> headers;  ///< names in lower case
  std::string body;

  /// The value of the first header of this name; empty if there is none.
  std::string_view header(std::string_view name) const;
  std::optional<std::string> parameter(std::string_view name) const;
};

struct Reply {
  int status = 200;
  std::string body{};
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string problem{};  ///< what is wrong, if the answer is an error
  // For the log and the metrics.
  std::string model{};
  size_t images = 0;
};

/// A JSON object with the status and what is wrong.
Reply error_reply(int status, std::string_view message);
/// The same, with a Retry-After header.
Reply busy_reply(int status, std::string_view message);

/// Fills path and query from the target. False if the target is malformed.
bool parse_target(Request& request);
/// Percent-decoded, with '+' unchanged; none if the text is malformed.
std::optional<std::string> percent_decoded(std::string_view text);

/// A request that waits for its answer. Any thread may answer it; the first answer counts.
class Exchange {
 public:
  Exchange(Request request, Clock::time_point deadline, std::function<void(Reply)> send);

  const Request& request() const { return request_; }
  Clock::time_point deadline() const { return deadline_; }
  void answer(Reply reply);
  /// The answer is no longer wanted: the client has left, or the time is over.
  void abandon() { *abandoned_ = true; }
  std::shared_ptr<const std::atomic<bool>> abandoned() const { return abandoned_; }

 private:
  Request request_;
  Clock::time_point deadline_;
  std::function<void(Reply)> send_;
  std::shared_ptr<std::atomic<bool>> abandoned_ = std::make_shared<std::atomic<bool>>(false);
  std::atomic<bool> answered_ = false;
};

}  // namespace vit::tools::serve
