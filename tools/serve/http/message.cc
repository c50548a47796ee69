#include "tools/serve/http/message.h"

#include <algorithm>

#include "tools/output/json.h"

namespace vit::tools::serve {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string_view kind_of(int status) {
  if (status == 401) return "authentication_error";
  if (status == 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

bool parse_query(std::string_view text, Request& request) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    std::string part(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part.empty()) continue;
    std::ranges::replace(part, '+', ' ');
    const size_t equals = std::min(part.find('='), part.size());
    const auto name = percent_decoded(std::string_view(part).substr(0, equals));
    const auto value =
        percent_decoded(std::string_view(part).substr(std::min(equals + 1, part.size())));
    if (!name || !value) return false;
    request.query.emplace_back(*name, *value);
  }
  return true;
}

}  // namespace

std::string_view Request::header(std::string_view name) const {
  const auto found = std::ranges::find_if(headers, [&](const auto& h) { return h.first == name; });
  return found == headers.end() ? std::string_view() : found->second;
}

std::optional<std::string> Request::parameter(std::string_view name) const {
  const auto found = std::ranges::find_if(query, [&](const auto& p) { return p.first == name; });
  if (found == query.end()) return std::nullopt;
  return found->second;
}

Reply error_reply(int status, std::string_view message) {
  Json error;
  error["error"]["status"] = status;
  error["error"]["type"] = kind_of(status);
  error["error"]["message"] = message;
  return {.status = status, .body = dump(error) + "\n", .problem = std::string(message)};
}

Reply busy_reply(int status, std::string_view message) {
  Reply reply = error_reply(status, message);
  reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

bool parse_target(Request& request) {
  const std::string_view target = request.target;
  if (!target.starts_with('/')) return false;
  const size_t question = std::min(target.find('?'), target.size());
  const auto path = percent_decoded(target.substr(0, question));
  if (!path || path->find('\0') != path->npos) return false;
  request.path = *path;
  return parse_query(target.substr(std::min(question + 1, target.size())), request);
}

Exchange::Exchange(Request request, Clock::time_point deadline, std::function<void(Reply)> send)
    : request_(std::move(request)), deadline_(deadline), send_(std::move(send)) {}

void Exchange::answer(Reply reply) {
  if (!answered_.exchange(true)) send_(std::move(reply));
}

}  // namespace vit::tools::serve
