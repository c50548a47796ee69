/// One connection. A request is read as a whole before it is handled, so a slow client costs memory
/// within its limits and no thread.
#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <optional>
#include <utility>

#include "tools/serve/http/hub.h"
#include "vit/base/text.h"

namespace vit::tools::serve {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using net::ip::tcp;

namespace {

constexpr std::uint32_t kHeaderBytes = 16 << 10;
constexpr size_t kChunk = 2048;  ///< enough for the head of most requests
constexpr size_t kLingerBytes = size_t{4} << 20;
constexpr auto kLinger = std::chrono::seconds(2);
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

enum class Stage { kIdle, kReceiving, kAnswering, kSending, kLingering, kClosed };

}  // namespace

struct Session {
  Session(Hub& of, tcp::socket connected)
      : hub(of), socket(std::move(connected)), timer(of.io), buffer(kHeaderBytes + (1 << 16)) {}

  Hub& hub;
  tcp::socket socket;
  net::steady_timer timer;
  beast::flat_buffer buffer;
  Stage stage = Stage::kIdle;
  bool reading =
      false;  ///< a read into the buffer is in progress; no other code may touch the buffer then
  bool left = false;  ///< the client has ended its side
  std::string peer{};
  std::list<std::shared_ptr<Session>>::iterator place{};
  std::list<Session*>::iterator idle_place{};

  // Of the current request.
  std::optional<http::request_parser<http::string_body>> parser{};
  std::optional<http::response<http::string_body>> response{};
  std::shared_ptr<Exchange> exchange{};
  Request head{};
  Reply reply{};
  Clock::time_point began{};
  size_t promised = 0;  ///< of hub.buffered
  size_t bytes_in = 0;
  size_t lingered = 0;
  bool keep_alive = true;
};

namespace {

using SessionPtr = std::shared_ptr<Session>;

void begin_request(const SessionPtr& s);
void on_timeout(const SessionPtr& s);
void read_ahead(const SessionPtr& s);

void set_timer(const SessionPtr& s, Clock::duration limit) {
  s->timer.expires_after(limit);
  s->timer.async_wait([s](error_code error) {
    // A timer that was set again in the meantime may have fired already.
    if (!error && s->timer.expiry() <= Clock::now()) on_timeout(s);
  });
}

void leave_idle(const SessionPtr& s) {
  if (s->stage == Stage::kIdle) s->hub.idle.erase(s->idle_place);
}

/// Counts a request for the log, even if its head is malformed.
void count_request(const SessionPtr& s) {
  s->head.id = ++s->hub.requests;
  s->head.peer = s->peer;
}

/// Logs the request and releases what it held.
void finish_request(const SessionPtr& s) {
  s->hub.buffered -= std::exchange(s->promised, 0);
  const Request& request = s->exchange ? s->exchange->request() : s->head;
  if (request.id != 0)
    s->hub.callbacks.finished({request, s->reply, s->bytes_in, Clock::now() - s->began});
  s->exchange.reset();
  s->response.reset();  // the parser stays: an abandoned read may still use it
  s->head = {};
  s->reply = {};
}

void close(const SessionPtr& s) {
  if (s->stage == Stage::kClosed) return;
  leave_idle(s);
  s->stage = Stage::kClosed;
  error_code ignored;
  s->socket.close(ignored);
  s->timer.cancel();
  if (s->exchange) s->exchange->abandon();
  s->hub.buffered -= std::exchange(s->promised, 0);
  s->exchange.reset();
  --s->hub.connections;
  s->hub.sessions.erase(s->place);
}

/// The client has gone before its answer.
void abort_request(const SessionPtr& s) {
  s->reply = {.status = 499};
  if (s->exchange) s->exchange->abandon();
  finish_request(s);
  close(s);
}

/// Ends the connection so that the answer arrives even if the client is still sending: closing at
/// once would reset the connection and with it what the client has not read yet.
void linger(const SessionPtr& s) {
  error_code ignored;
  s->socket.shutdown(tcp::socket::shutdown_send, ignored);
  if (s->left) return close(s);
  s->stage = Stage::kLingering;
  set_timer(s, kLinger);
  s->buffer.consume(s->reading ? 0 : s->buffer.size());
  read_ahead(s);
}

void become_idle(const SessionPtr& s) {
  if (s->left || s->hub.stopping) return close(s);
  s->stage = Stage::kIdle;
  s->idle_place = s->hub.idle.insert(s->hub.idle.end(), s.get());
  set_timer(s, s->hub.settings.idle);
  if (!s->reading) s->buffer.shrink_to_fit();
  read_ahead(s);
}

void on_sent(const SessionPtr& s, error_code error) {
  if (s->stage != Stage::kSending) return;
  finish_request(s);
  if (error) return close(s);
  if (!s->keep_alive) return linger(s);
  if (!s->reading && s->buffer.size() != 0) return begin_request(s);
  become_idle(s);
}

void send(const SessionPtr& s, Reply reply) {
  s->stage = Stage::kSending;
  set_timer(s, s->hub.settings.send);
  s->keep_alive = s->keep_alive && !s->hub.stopping;
  const Request& request = s->exchange ? s->exchange->request() : s->head;
  s->hub.callbacks.complete(request, reply);
  const bool old = s->parser && s->parser->get().version() == 10;
  auto& out = s->response.emplace(static_cast<http::status>(reply.status), old ? 10 : 11);
  out.set(http::field::content_type, reply.content_type);
  for (const auto& [name, value] : reply.headers) out.set(name, value);
  if (request.id != 0) out.set("X-Request-Id", std::to_string(request.id));
  out.keep_alive(s->keep_alive);
  out.content_length(reply.body.size());
  if (request.method != "HEAD") out.body() = std::move(reply.body);
  s->reply = std::move(reply);
  http::async_write(s->socket, out, [s](error_code error, size_t) { on_sent(s, error); });
}

/// Answers a request whose body, or part of whose head, has not been read.
void refuse(const SessionPtr& s, Reply reply) {
  s->keep_alive = s->keep_alive && s->parser && s->parser->is_done();
  send(s, std::move(reply));
}

void on_timeout(const SessionPtr& s) {
  switch (s->stage) {
    case Stage::kReceiving:
      s->keep_alive = false;
      if (s->head.id == 0) count_request(s);
      s->left = true;  // the read that is under way cannot be used to linger
      return send(s, error_reply(408, "the request did not arrive in time"));
    case Stage::kAnswering:
      s->exchange->abandon();
      return send(s, busy_reply(504, "the answer was not ready in time"));
    default:
      return close(s);
  }
}

/// Between requests and while one is answered: notices a client that leaves.
void read_ahead(const SessionPtr& s) {
  if (s->reading || s->left) return;
  s->reading = true;
  s->socket.async_read_some(s->buffer.prepare(kChunk), [s](error_code error, size_t count) {
    s->reading = false;
    if (s->stage == Stage::kClosed) return;
    if (error) {
      s->left = true;
      if (s->stage == Stage::kAnswering) return abort_request(s);
      if (s->stage != Stage::kSending) return close(s);
      return;
    }
    s->buffer.commit(count);
    if (s->stage == Stage::kIdle) return begin_request(s);
    if (s->stage != Stage::kLingering) return;
    s->buffer.consume(count);
    s->lingered += count;
    if (s->lingered > kLingerBytes) return close(s);
    read_ahead(s);
  });
}

void answer_later(const SessionPtr& s) {
  s->head.body = std::move(s->parser->get().body());
  s->bytes_in = s->head.body.size();
  const auto deadline = Clock::now() + s->hub.settings.answer;
  const std::weak_ptr<Session> weak = s;
  Hub& hub = s->hub;
  s->exchange = std::make_shared<Exchange>(std::move(s->head), deadline, [weak, &hub](Reply reply) {
    net::post(hub.io, [weak, reply = std::move(reply)]() mutable {
      const auto session = weak.lock();
      if (session && session->stage == Stage::kAnswering) send(session, std::move(reply));
    });
  });
  s->stage = Stage::kAnswering;
  set_timer(s, s->hub.settings.answer);
  if (s->buffer.size() == 0) read_ahead(s);
  s->hub.handlers->add(s->exchange);
}

/// The answer to what the parser did not accept; none if the client is gone.
std::optional<Reply> problem_of(error_code error, const ServerSettings& settings) {
  if (error.category() != http::make_error_code(http::error::end_of_stream).category())
    return std::nullopt;
  switch (static_cast<http::error>(error.value())) {
    case http::error::end_of_stream:
    case http::error::partial_message:
      return std::nullopt;
    case http::error::header_limit:
    case http::error::buffer_overflow:
      return error_reply(431, "the head of the request is too large; at most " +
                                  std::to_string(kHeaderBytes) + " bytes are read");
    case http::error::body_limit:
      return error_reply(413, "the body is too large; this server reads at most " +
                                  std::to_string(settings.body_bytes) + " bytes");
    default:
      return error_reply(400, "not a valid HTTP request: " + error.message());
  }
}

/// Receiving failed: answers if the client can still read the answer.
void on_bad_request(const SessionPtr& s, error_code error) {
  auto reply = problem_of(error, s->hub.settings);
  if (!reply) return s->head.id == 0 ? close(s) : abort_request(s);
  if (s->head.id == 0) count_request(s);
  s->keep_alive = false;
  send(s, std::move(*reply));
}

void read_body(const SessionPtr& s) {
  http::async_read(s->socket, s->buffer, *s->parser, [s](error_code error, size_t) {
    if (s->stage != Stage::kReceiving) return;
    if (error) return on_bad_request(s, error);
    answer_later(s);
  });
}

/// Reads the body; a client that sends "Expect: 100-continue" first gets that answer.
void continue_reading(const SessionPtr& s) {
  const bool asks = lower(s->head.header("expect")) == "100-continue" && s->buffer.size() == 0;
  if (!asks) return read_body(s);
  net::async_write(s->socket, net::buffer(kContinue), [s](error_code error, size_t) {
    if (s->stage != Stage::kReceiving) return;
    if (error) return abort_request(s);
    read_body(s);
  });
}

void fill_head(const SessionPtr& s) {
  const auto& message = s->parser->get();
  count_request(s);
  s->head.method = std::string(message.method_string());
  s->head.target = std::string(message.target());
  for (const auto& field : message)
    s->head.headers.emplace_back(lower({field.name_string().data(), field.name_string().size()}),
                                 std::string(field.value()));
}

/// Reserves memory for the body. False: too much is reserved already.
bool promise_memory(const SessionPtr& s) {
  Hub& hub = s->hub;
  const auto length = s->parser->content_length();
  const size_t bytes = s->parser->chunked() ? hub.settings.body_bytes
                       : length             ? static_cast<size_t>(*length)
                                            : 0;
  if (hub.buffered != 0 && hub.buffered + bytes > hub.settings.buffered_bytes) return false;
  hub.buffered += bytes;
  s->promised = bytes;
  return true;
}

void on_head(const SessionPtr& s, error_code error) {
  if (s->stage != Stage::kReceiving) return;
  // The head is complete even if it announces a body that is too large.
  const bool known = s->parser->is_header_done() || error == http::error::body_limit;
  if (known) fill_head(s);
  const bool found = known && parse_target(s->head);
  if (error) return on_bad_request(s, error);
  s->keep_alive = s->parser->keep_alive();
  if (!found) return refuse(s, error_reply(400, "the address of the request is malformed"));
  if (s->hub.stopping) return refuse(s, busy_reply(503, "the server is stopping"));
  if (auto reply = s->hub.callbacks.admit(s->head)) return refuse(s, std::move(*reply));
  if (!promise_memory(s)) return refuse(s, busy_reply(503, "too many uploads at the same time"));
  if (s->parser->is_done()) return answer_later(s);
  continue_reading(s);
}

void begin_request(const SessionPtr& s) {
  leave_idle(s);
  s->stage = Stage::kReceiving;
  s->began = Clock::now();
  s->bytes_in = 0;
  s->keep_alive = true;
  set_timer(s, s->hub.settings.receive);
  s->parser.emplace();
  s->parser->header_limit(kHeaderBytes);
  s->parser->body_limit(s->hub.settings.body_bytes);
  http::async_read_header(s->socket, s->buffer, *s->parser,
                          [s](error_code error, size_t) { on_head(s, error); });
}

}  // namespace

void start_session(Hub& hub, tcp::socket socket, bool refused) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  const auto end = socket.remote_endpoint(ignored);
  const auto s = std::make_shared<Session>(hub, std::move(socket));
  s->peer = end.address().to_string(ignored) + ":" + std::to_string(end.port());
  hub.sessions.push_front(s);
  s->place = hub.sessions.begin();
  ++hub.connections;
  if (!refused) return become_idle(s);
  ++hub.refused;
  s->keep_alive = false;
  send(s, busy_reply(503, "too many connections"));
}

bool close_longest_idle(Hub& hub) {
  if (hub.idle.empty()) return false;
  close(*hub.idle.front()->place);
  return true;
}

void close_idle(Hub& hub) {
  const std::list<Session*> idle = hub.idle;
  for (Session* session : idle) {
    error_code error;
    // One whose request has arrived and has not been read yet gets its answer.
    if (session->socket.available(error) == 0 || error) close(*session->place);
  }
}

}  // namespace vit::tools::serve
