/// A small HTTP server on loopback, for tests: one thread, one request per connection.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace vit::tools {

struct HttpRequest {
  std::string method;
  std::string path;
  std::map<std::string, std::string> headers;  ///< names in lower case

  std::string header(const std::string& name) const;
};

struct HttpReply {
  int status = 200;
  std::map<std::string, std::string> headers{};  ///< Content-Length is added unless it is here
  std::string body{};
  bool no_length = false;             ///< the body ends with the connection
  std::optional<size_t> cut_after{};  ///< bytes of the body after which the connection closes
  bool stall = false;                 ///< … or stays open without a byte until the client leaves
};

class HttpServer {
 public:
  using Handler = std::function<HttpReply(const HttpRequest& request)>;

  explicit HttpServer(Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::string address() const;  ///< "http://127.0.0.1:PORT"
  std::vector<HttpRequest> requests() const;
  void forget_requests();
  /// Whether a reply has stalled.
  bool stalled() const { return stalled_; }

 private:
  void serve();
  void answer(int connection);

  Handler handler_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> stalled_ = false;
  mutable std::mutex mutex_;
  std::vector<HttpRequest> requests_;
  std::thread thread_;
};

}  // namespace vit::tools
