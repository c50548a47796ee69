/// What all connections of a server share. All of it belongs to the one thread that runs `io`,
/// except what is atomic.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <list>
#include <memory>

#include "tools/serve/http/handler_threads.h"
#include "tools/serve/http/server.h"

namespace vit::tools::serve {

struct Session;

struct Hub {
  boost::asio::io_context io{1};
  ServerSettings settings{};
  Callbacks callbacks{};
  HandlerThreads* handlers = nullptr;
  std::list<std::shared_ptr<Session>> sessions{};
  std::list<Session*> idle{};  ///< connections without a request, the longest idle first
  size_t buffered = 0;         ///< bytes reserved for the bodies of requests
  std::uint64_t requests = 0;
  std::atomic<size_t> connections = 0;
  std::atomic<std::uint64_t> refused = 0;  ///< connections above the limit
  std::atomic<bool> stopping = false;
};

/// Serves a new connection; if `refused`, only answers that there are too many.
void start_session(Hub& hub, boost::asio::ip::tcp::socket socket, bool refused);
/// Closes the connection that has been idle for the longest time. False: none is idle.
bool close_longest_idle(Hub& hub);
/// Closes the connections without a request.
void close_idle(Hub& hub);

}  // namespace vit::tools::serve
