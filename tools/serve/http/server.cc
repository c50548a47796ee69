#include "tools/serve/http/server.h"

#include <utility>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <new>

#include "tools/serve/http/hub.h"
#include "vit/base/error.h"

namespace vit::tools::serve {

namespace net = boost::asio;
using boost::system::error_code;
using net::ip::tcp;

namespace {

constexpr size_t kHandlers = 2;
/// Connections above the limit that get a 503 at the same time; more are closed without an answer.
constexpr size_t kRefusals = 64;
constexpr auto kAfterAcceptError = std::chrono::milliseconds(100);

std::string shown(const ServerSettings& settings) {
  return settings.host + ":" + std::to_string(settings.port);
}

tcp::endpoint resolve(net::io_context& io, const ServerSettings& settings) {
  tcp::resolver resolver(io);
  error_code error;
  const auto found = resolver.resolve(settings.host, std::to_string(settings.port), error);
  if (error || found.empty())
    fail_at(shown(settings), "cannot find this host: ", error.message(),
            "; expected an address of this machine, such as 127.0.0.1, 0.0.0.0 or ::1");
  return *found.begin();
}

}  // namespace

struct Server::State {
  Hub hub;
  tcp::acceptor acceptor{hub.io};
  net::signal_set stop_signals{hub.io, SIGTERM, SIGINT};
  net::signal_set reload_signals{hub.io, SIGHUP};
  net::steady_timer pause{hub.io};

  void bind() {
    const tcp::endpoint place = resolve(hub.io, hub.settings);
    error_code error;
    acceptor.open(place.protocol(), error);
    if (!error) acceptor.set_option(net::socket_base::reuse_address(true), error);
    if (!error) acceptor.bind(place, error);
    if (!error) acceptor.listen(net::socket_base::max_listen_connections, error);
    if (error)
      fail_at(shown(hub.settings), "cannot listen here: ", error.message(),
              "; is another server running on this port?");
  }

  void accept() {
    acceptor.async_accept([this](error_code error, tcp::socket socket) {
      if (error == net::error::operation_aborted) return;
      if (error) return accept_after_pause();
      admit(std::move(socket));
      accept();
    });
  }

  /// Usually the process has no file descriptors left; closing an idle connection frees one.
  void accept_after_pause() {
    close_longest_idle(hub);
    pause.expires_after(kAfterAcceptError);
    pause.async_wait([this](error_code error) {
      if (!error && acceptor.is_open()) accept();
    });
  }

  void admit(tcp::socket socket) {
    const bool full = hub.connections >= hub.settings.connections;
    if (full && close_longest_idle(hub)) return start_session(hub, std::move(socket), false);
    if (hub.connections >= hub.settings.connections + kRefusals) {
      ++hub.refused;
      return;
    }
    start_session(hub, std::move(socket), full);
  }

  void await_signals() {
    stop_signals.async_wait([this](error_code error, int) {
      if (error) return;
      hub.stopping = true;
      acceptor.close(error);
      pause.cancel();
      stop_signals.clear(error);  // a second one ends the program at once
      reload_signals.cancel(error);
      close_idle(hub);
    });
    await_reload();
  }

  void await_reload() {
    reload_signals.async_wait([this](error_code error, int) {
      if (error) return;
      hub.callbacks.reload();
      await_reload();
    });
  }
};

Server::Server(const ServerSettings& settings) : state_(std::make_unique<State>()) {
  state_->hub.settings = settings;
  state_->bind();
}

Server::~Server() = default;

std::string Server::address() const {
  const auto place = state_->acceptor.local_endpoint();
  const std::string host = place.address().to_string();
  return "http://" + (place.address().is_v6() ? "[" + host + "]" : host) + ":" +
         std::to_string(place.port());
}

void Server::run(Callbacks callbacks) {
  Hub& hub = state_->hub;
  hub.callbacks = std::move(callbacks);
  HandlerThreads handlers(kHandlers, hub.callbacks.answer);
  hub.handlers = &handlers;
  state_->await_signals();
  state_->accept();
  while (true) {
    try {
      hub.io.run();
      return;
    } catch (const std::bad_alloc&) {
      // The connection that needed the memory is closed by its time limit.
    }
  }
}

size_t Server::connections() const {
  return state_->hub.connections;
}

std::uint64_t Server::refused() const {
  return state_->hub.refused;
}

bool Server::stopping() const {
  return state_->hub.stopping;
}

}  // namespace vit::tools::serve
