/// HTTP/1.1 on TCP: connections, limits and times. The callbacks answer the requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tools/serve/http/message.h"

namespace vit::tools::serve {

struct ServerSettings {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8080;  ///< 0: any that is free
  size_t connections = 1024;
  size_t body_bytes = size_t{16} << 20;
  size_t buffered_bytes = size_t{256} << 20;  ///< bodies of all requests together
  std::chrono::milliseconds idle{60'000};     ///< a connection without a request
  std::chrono::milliseconds receive{30'000};  ///< a request, from its first byte to its last
  std::chrono::milliseconds answer{30'000};   ///< from the last byte of a request to its answer
  std::chrono::milliseconds send{30'000};     ///< an answer, from its first byte to its last
};

/// A finished request.
struct Finished {
  const Request& request;
  const Reply& reply;  ///< status 499: the client left before the answer
  size_t bytes_in = 0;
  std::chrono::duration<double> seconds{};
};

struct Callbacks {
  /// Before the body is read: an answer, if the body is not needed. In the thread of the
  /// connections.
  std::function<std::optional<Reply>(const Request& head)> admit;
  /// In a handler thread, which may block; must answer the exchange, now or later.
  std::function<void(const std::shared_ptr<Exchange>& exchange)> answer;
  /// May change any answer before it is sent. In the thread of the connections.
  std::function<void(const Request& request, Reply& reply)> complete;
  /// In the thread of the connections.
  std::function<void(const Finished& finished)> finished;
  std::function<void()> reload;  ///< SIGHUP, in the thread of the connections
};

/// The constructor binds the port; run() serves.
class Server {
 public:
  /// Throws an Error if the address cannot be used.
  explicit Server(const ServerSettings& settings);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// "http://127.0.0.1:8080"
  std::string address() const;
  /// Serves until SIGTERM or SIGINT; returns when all requests that were accepted are answered.
  void run(Callbacks callbacks);

  /// At this moment; may be called from any thread.
  size_t connections() const;
  bool stopping() const;
  /// Connections that were closed because there were too many.
  std::uint64_t refused() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vit::tools::serve
