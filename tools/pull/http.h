/// One HTTP request at a time. Redirects are not followed here.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "vit/base/error.h"

namespace vit::tools {

/// The server could not be reached, or its response was incomplete.
class NetworkError : public Error {
 public:
  using Error::Error;
};

/// The connection broke, or the server is too busy: a retry may help.
class BrokenConnection : public NetworkError {
 public:
  using NetworkError::NetworkError;
};

struct Timeouts {
  std::chrono::seconds connect{20};
  std::chrono::seconds silence{30};  ///< without a byte
};

struct Response {
  long status = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case

  std::string header(const std::string& name) const;
  std::optional<std::uintmax_t> number(const std::string& name) const;
};

struct Request {
  std::string url;
  std::string token{};      ///< sent as a bearer, empty: none
  bool head = false;        ///< headers only
  std::uintmax_t from = 0;  ///< first byte to fetch
  /// Gets the headers before the body; false skips the body.
  std::function<bool(const Response& response)> on_headers{};
  std::function<void(std::span<const std::byte> bytes)> on_body{};
};

/// A connection that is kept for the next request to the same server.
class HttpClient {
 public:
  explicit HttpClient(Timeouts timeouts = {});
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Throws a NetworkError that names the server; exceptions of the callbacks propagate.
  Response perform(const Request& request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Resolves `location`, relative ("/a") or absolute ("https://b/c"), against `base`.
std::string resolve_url(const std::string& base, const std::string& location);
/// Whether scheme, host and port are equal, so that a token for one may be sent to the other.
bool same_origin(const std::string& a, const std::string& b);
/// "https://huggingface.co", for messages.
std::string origin_of(const std::string& url);
/// The address without "user:password@", for messages.
std::string without_credentials(std::string_view url);
/// Whether the host is this machine, so that nothing travels over a network.
bool is_loopback(const std::string& url);

}  // namespace vit::tools
