/// A client on plain sockets, which can also behave badly.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vit::tools {

struct Answer {
  int status = 0;                              ///< 0: the connection ended before an answer
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
};

struct Ask {
  std::string method = "GET";
  std::string target = "/";
  std::string body{};
  std::string type{};  ///< Content-Type
  std::vector<std::pair<std::string, std::string>> headers{};
};

/// The bytes of a request as a well-behaved client sends them.
std::string bytes_of(const Ask& ask);

class Connection {
 public:
  explicit Connection(std::uint16_t port);
  ~Connection();
  Connection(Connection&& other) noexcept;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// False: the other side has closed the connection.
  bool send(std::string_view bytes) const;
  /// As much as the system takes without waiting. False: not all of it.
  bool send_now(std::string_view bytes) const;
  /// Says that nothing more will be sent.
  void finish() const;
  /// Whether a part of an answer has come, of which read() did not find the end.
  bool has_part() const { return part_ || !buffer_.empty(); }
  /// The next answer; status 0 if the connection ends before it.
  Answer read(bool to_head = false);
  Answer ask(const Ask& ask);
  /// Waits for the end of the connection; bytes that come before it are dropped.
  void wait_for_end();
  /// Whether the server has closed it by now.
  bool ended() const;
  void close();

 private:
  bool fill();

  int socket_ = -1;
  std::string buffer_;
  bool part_ = false;
};

/// One request on a connection of its own.
Answer ask(std::uint16_t port, const Ask& ask);

/// Base64 and forms as browsers make them.
std::string in_base64(std::string_view bytes);
Ask form(const std::string& target,
         const std::vector<std::pair<std::string, std::string>>& named_files);

/// A BMP of noise: each seed is another image.
std::string noise_bmp(std::uint32_t width, std::uint32_t height, std::uint32_t seed);

}  // namespace vit::tools
