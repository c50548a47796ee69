#include "tools/pull/http.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>

#include "vit/base/text.h"

namespace vit::tools {
namespace {

/// State of the callbacks of one request. Exceptions must not cross libcurl's C code.
struct Transfer {
  const Request& request;
  CURL* curl;
  Response response{};
  bool headers_shown = false;
  bool given_up = false;
  std::exception_ptr error{};
};

std::string trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

size_t on_header(char* data, size_t size, size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::string_view line(data, size * count);
  // A new status line resets the headers: "100 Continue" may come before the response.
  if (line.starts_with("HTTP/")) transfer.response.headers.clear();
  const size_t colon = line.find(':');
  if (colon == line.npos) return line.size();
  std::string name = trimmed(line.substr(0, colon));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  transfer.response.headers[name] = trimmed(line.substr(colon + 1));
  return line.size();
}

/// False: the caller does not want the body.
bool show_headers(Transfer& transfer) {
  if (transfer.headers_shown) return true;
  transfer.headers_shown = true;
  curl_easy_getinfo(transfer.curl, CURLINFO_RESPONSE_CODE, &transfer.response.status);
  if (transfer.request.on_headers)
    transfer.given_up = !transfer.request.on_headers(transfer.response);
  return !transfer.given_up;
}

size_t on_body(char* data, size_t size, size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  try {
    if (!show_headers(transfer)) return 0;
    if (transfer.request.on_body)
      transfer.request.on_body(std::as_bytes(std::span(data, size * count)));
    return size * count;
  } catch (...) {
    transfer.error = std::current_exception();
    return 0;
  }
}

struct HeaderList {
  curl_slist* list = nullptr;
  explicit HeaderList(const Request& request) {
    add("Accept-Encoding: identity");  // sizes and hashes are of the plain bytes
    if (!request.token.empty()) add("Authorization: Bearer " + request.token);
    if (request.from != 0) add("Range: bytes=" + std::to_string(request.from) + "-");
  }
  ~HeaderList() { curl_slist_free_all(list); }
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;
  void add(const std::string& line) { list = curl_slist_append(list, line.c_str()); }
};

struct UrlParts {
  CURLU* url = curl_url();
  explicit UrlParts(const std::string& text) {
    if (curl_url_set(url, CURLUPART_URL, text.c_str(), 0) != CURLUE_OK)
      fail_at(without_credentials(text), "is not a web address");
  }
  ~UrlParts() { curl_url_cleanup(url); }
  UrlParts(const UrlParts&) = delete;
  UrlParts& operator=(const UrlParts&) = delete;

  std::string get(CURLUPart part, unsigned flags = 0) const {
    char* text = nullptr;
    if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return {};
    const std::string result = text;
    curl_free(text);
    return result;
  }
};

[[noreturn]] void explain(CURLcode code, const char* detail, const std::string& url) {
  const std::string where = origin_of(url);
  const std::string reason = *detail == '\0' ? curl_easy_strerror(code) : detail;
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
      fail_as<NetworkError>(where, "cannot be reached: ", reason,
                            "; check the network, the proxy variables and HF_ENDPOINT");
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      fail_as<NetworkError>(where, "its certificate is not trusted: ", reason,
                            "; is the package ca-certificates installed?");
    case CURLE_OPERATION_TIMEDOUT:
      fail_as<BrokenConnection>(where, "no answer in time: ", reason);
    default:
      fail_as<BrokenConnection>(where, "the connection broke: ", reason);
  }
}

void set_options(const Transfer& transfer, const HeaderList& headers, const Timeouts& timeouts) {
  CURL* curl = transfer.curl;
  curl_easy_reset(curl);  // options only: the connection stays
  curl_easy_setopt(curl, CURLOPT_URL, transfer.request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.list);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "vit/" VIT_VERSION);
  curl_easy_setopt(curl, CURLOPT_NOBODY, transfer.request.head ? 1L : 0L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, static_cast<long>(timeouts.connect.count()));
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>(timeouts.silence.count()));
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
}

}  // namespace

struct HttpClient::State {
  CURL* curl = nullptr;
  Timeouts timeouts;
};

std::string Response::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

std::optional<std::uintmax_t> Response::number(const std::string& name) const {
  return to_number<std::uintmax_t>(header(name));
}

HttpClient::HttpClient(Timeouts timeouts) : state_(std::make_unique<State>()) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  state_->curl = curl_easy_init();
  state_->timeouts = timeouts;
  if (state_->curl == nullptr) fail("libcurl cannot start");
}

HttpClient::~HttpClient() {
  curl_easy_cleanup(state_->curl);
  curl_global_cleanup();
}

Response HttpClient::perform(const Request& request) {
  Transfer transfer{.request = request, .curl = state_->curl};
  const HeaderList headers(request);
  std::array<char, CURL_ERROR_SIZE> detail{};
  set_options(transfer, headers, state_->timeouts);
  curl_easy_setopt(transfer.curl, CURLOPT_ERRORBUFFER, detail.data());
  const CURLcode code = curl_easy_perform(transfer.curl);
  curl_easy_setopt(transfer.curl, CURLOPT_ERRORBUFFER, nullptr);
  if (transfer.error) std::rethrow_exception(transfer.error);
  if (code != CURLE_OK && !transfer.given_up) explain(code, detail.data(), request.url);
  show_headers(transfer);  // a response without a body
  return std::move(transfer.response);
}

std::string resolve_url(const std::string& base, const std::string& location) {
  const UrlParts parts(base);
  if (curl_url_set(parts.url, CURLUPART_URL, location.c_str(), 0) != CURLUE_OK)
    fail_at(origin_of(base), "redirects to '", without_credentials(location),
            "', which is not a web address");
  return parts.get(CURLUPART_URL);
}

std::string origin_of(const std::string& url) {
  const UrlParts parts(url);
  const std::string port = parts.get(CURLUPART_PORT);
  return parts.get(CURLUPART_SCHEME) + "://" + parts.get(CURLUPART_HOST) +
         (port.empty() ? "" : ":" + port);
}

std::string without_credentials(std::string_view url) {
  const size_t scheme = url.find("://");
  const size_t host = scheme == url.npos ? 0 : scheme + 3;
  const std::string_view authority = url.substr(host, url.find('/', host) - host);
  const size_t at = authority.rfind('@');
  if (at == authority.npos) return std::string(url);
  return std::string(url.substr(0, host)) + std::string(url.substr(host + at + 1));
}

bool is_loopback(const std::string& url) {
  const std::string host = UrlParts(url).get(CURLUPART_HOST);
  return host == "localhost" || host.ends_with(".localhost") || host.starts_with("127.") ||
         host == "[::1]";
}

bool same_origin(const std::string& a, const std::string& b) {
  const UrlParts first(a), second(b);
  for (const auto part : {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT})
    if (first.get(part, CURLU_DEFAULT_PORT) != second.get(part, CURLU_DEFAULT_PORT)) return false;
  return true;
}

}  // namespace vit::tools
