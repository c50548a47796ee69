#include "tests/tools/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <stdexcept>

namespace vit::tools {
namespace {

constexpr int kPollMilliseconds = 20;

std::string read_head(int connection) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (text.find("\r\n\r\n") == std::string::npos) {
    const ssize_t count = recv(connection, buffer.data(), buffer.size(), 0);
    if (count <= 0) return {};
    text.append(buffer.data(), static_cast<size_t>(count));
  }
  return text;
}

HttpRequest parse_request(const std::string& text) {
  std::istringstream lines(text);
  HttpRequest request;
  lines >> request.method >> request.path;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line != "\r") {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    std::string name = line.substr(0, colon);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    request.headers[name] = line.substr(colon + 2, line.size() - colon - 3);
  }
  return request;
}

void send_all(int connection, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = send(connection, text.data(), text.size(), MSG_NOSIGNAL);
    if (count <= 0) return;
    text.remove_prefix(static_cast<size_t>(count));
  }
}

std::string head_of(const HttpReply& reply) {
  std::string text = "HTTP/1.1 " + std::to_string(reply.status) + " Reply\r\n";
  for (const auto& [name, value] : reply.headers) text += name + ": " + value + "\r\n";
  if (!reply.no_length && !reply.headers.contains("Content-Length"))
    text += "Content-Length: " + std::to_string(reply.body.size()) + "\r\n";
  return text + "Connection: close\r\n\r\n";
}

}  // namespace

std::string HttpRequest::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

HttpServer::HttpServer(Handler handler) : handler_(std::move(handler)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (listener_ < 0 || bind(listener_, generic, length) != 0 || listen(listener_, 16) != 0 ||
      getsockname(listener_, generic, &length) != 0)
    throw std::runtime_error("cannot listen on loopback");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

HttpServer::~HttpServer() {
  stop_ = true;
  thread_.join();
  close(listener_);
}

std::string HttpServer::address() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

std::vector<HttpRequest> HttpServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void HttpServer::forget_requests() {
  const std::lock_guard lock(mutex_);
  requests_.clear();
}

void HttpServer::serve() {
  while (!stop_) {
    pollfd waiting{listener_, POLLIN, 0};
    if (poll(&waiting, 1, kPollMilliseconds) <= 0) continue;
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    answer(connection);
    close(connection);
  }
}

void HttpServer::answer(int connection) {
  const std::string head = read_head(connection);
  if (head.empty()) return;
  const HttpRequest request = parse_request(head);
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
  }
  const HttpReply reply = handler_(request);
  send_all(connection, head_of(reply));
  if (request.method == "HEAD") return;
  send_all(connection,
           std::string_view(reply.body).substr(0, reply.cut_after.value_or(reply.body.size())));
  if (!reply.stall) return;
  stalled_ = true;
  pollfd gone{connection, POLLRDHUP, 0};
  while (!stop_ && poll(&gone, 1, kPollMilliseconds) == 0) {
  }
}

}  // namespace vit::tools
