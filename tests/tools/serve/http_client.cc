#include "tests/tools/serve/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <random>
#include <stdexcept>

namespace vit::tools {
namespace {

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

void read_head(const std::string& head, Answer& answer) {
  answer.status = std::atoi(head.substr(head.find(' ') + 1).c_str());
  for (size_t at = head.find("\r\n") + 2; at < head.size();) {
    const size_t end = head.find("\r\n", at), colon = head.find(": ", at);
    if (colon < end)
      answer.headers[lower_case(head.substr(at, colon - at))] =
          head.substr(colon + 2, end - colon - 2);
    at = end + 2;
  }
}

}  // namespace

std::string bytes_of(const Ask& ask) {
  std::string text = ask.method + " " + ask.target + " HTTP/1.1\r\nHost: 127.0.0.1\r\n";
  if (!ask.type.empty()) text += "Content-Type: " + ask.type + "\r\n";
  for (const auto& [name, value] : ask.headers) text += name + ": " + value + "\r\n";
  if (ask.method == "POST") text += "Content-Length: " + std::to_string(ask.body.size()) + "\r\n";
  return text + "\r\n" + ask.body;
}

Connection::Connection(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&place), sizeof(place)) != 0) {
    ::close(socket_);
    throw std::runtime_error("cannot connect to port " + std::to_string(port));
  }
}

Connection::Connection(Connection&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), buffer_(std::move(other.buffer_)) {}

Connection::~Connection() {
  close();
}

void Connection::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

bool Connection::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool Connection::send_now(std::string_view bytes) const {
  return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(bytes.size());
}

void Connection::finish() const {
  ::shutdown(socket_, SHUT_WR);
}

bool Connection::fill() {
  char chunk[1 << 16];
  const ssize_t got = ::recv(socket_, chunk, sizeof(chunk), 0);
  if (got <= 0) return false;
  buffer_.append(chunk, static_cast<size_t>(got));
  return true;
}

Answer Connection::read(bool to_head) {
  Answer answer;
  size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == buffer_.npos)
    if (!fill()) return {};
  read_head(buffer_.substr(0, end + 2), answer);
  buffer_.erase(0, end + 4);
  if (answer.status == 100) return answer;
  const size_t length = to_head ? 0 : std::stoul(answer.headers["content-length"]);
  while (buffer_.size() < length)
    if (!fill()) {
      part_ = true;
      return {};
    }
  answer.body = buffer_.substr(0, length);
  buffer_.erase(0, length);
  return answer;
}

Answer Connection::ask(const Ask& ask) {
  send(bytes_of(ask));
  return read(ask.method == "HEAD");
}

void Connection::wait_for_end() {
  while (fill()) buffer_.clear();
}

bool Connection::ended() const {
  char byte = 0;
  return ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

Answer ask(std::uint16_t port, const Ask& ask) {
  return Connection(port).ask(ask);
}

std::string in_base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&](size_t k) {
      return k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0u;
    };
    const unsigned group = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    text += kDigits[group >> 18];
    text += kDigits[group >> 12 & 63];
    text += i + 1 < bytes.size() ? kDigits[group >> 6 & 63] : '=';
    text += i + 2 < bytes.size() ? kDigits[group & 63] : '=';
  }
  return text;
}

Ask form(const std::string& target,
         const std::vector<std::pair<std::string, std::string>>& named_files) {
  Ask ask{.method = "POST", .target = target, .type = "multipart/form-data; boundary=--edge"};
  for (const auto& [name, bytes] : named_files)
    ask.body += "----edge\r\nContent-Disposition: form-data; name=\"images\"; filename=\"" + name +
                "\"\r\nContent-Type: application/octet-stream\r\n\r\n" + bytes + "\r\n";
  ask.body += "----edge--\r\n";
  return ask;
}

std::string noise_bmp(std::uint32_t width, std::uint32_t height, std::uint32_t seed) {
  const std::uint32_t row = (3 * width + 3) / 4 * 4, size = 54 + row * height;
  std::string bytes = "BM";
  const auto put = [&](std::uint32_t value, int count) {
    for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i) & 255u);
  };
  put(size, 4);
  put(0, 4);
  put(54, 4);
  put(40, 4);
  put(width, 4);
  put(height, 4);
  put(1, 2);
  put(24, 2);
  for (int i = 0; i < 6; ++i) put(0, 4);
  std::mt19937 engine(seed);
  while (bytes.size() < size) bytes += static_cast<char>(engine());
  return bytes;
}

}  // namespace vit::tools
