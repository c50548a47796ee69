#include "tools/serve/service.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "tools/output/digest.h"
#include "tools/serve/routes.h"
#include "tools/serve/status_error.h"
#include "vit/base/text.h"

namespace vit::tools::serve {
namespace {

constexpr std::string_view kModelSegment = "{model}";

/// Whether the path is of this form; `model` is the segment that stands for it.
bool matches(std::string_view form, std::string_view path, std::string& model) {
  const size_t at = form.find(kModelSegment);
  if (at == form.npos) return form == path;
  const std::string_view rest = form.substr(at + kModelSegment.size());
  if (path.size() <= at + rest.size() || !path.starts_with(form.substr(0, at)) ||
      !path.ends_with(rest))
    return false;
  model = path.substr(at, path.size() - at - rest.size());
  return model.find('/') == model.npos;
}

bool same_method(const Route& route, const std::string& method) {
  return route.method == method || (route.method == "GET" && method == "HEAD");
}

struct Found {
  const Route* route = nullptr;
  std::string model;
};

/// No route where none fits; `allowed` then lists the methods of those that fit otherwise.
Found find_route(std::span<const Route> table, const Request& request, std::string& allowed) {
  Found found;
  for (const Route& route : table) {
    std::string model;
    if (!matches(route.path, request.path, model)) continue;
    if (same_method(route, request.method)) return {&route, model};
    allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
  }
  return found;
}

/// A page of another site may not use the service through a browser.
bool foreign_origin(const Request& request) {
  const std::string_view origin = request.header("origin");
  const size_t scheme = origin.find("://");
  return !origin.empty() &&
         (scheme == origin.npos || origin.substr(scheme + 3) != request.header("host"));
}

}  // namespace

std::string token_hash(std::string_view token) {
  Digest digest = Digest::sha256();
  digest.add(std::as_bytes(std::span(token)));
  return digest.finish();
}

bool authorized(std::string_view header, const std::vector<std::string>& token_hashes) {
  constexpr std::string_view kScheme = "bearer ";
  if (lower(header.substr(0, kScheme.size())) != kScheme) return false;
  const std::string given = token_hash(header.substr(kScheme.size()));
  bool found = false;
  for (const std::string& hash : token_hashes)
    found |=
        hash.size() == given.size() && CRYPTO_memcmp(hash.data(), given.data(), hash.size()) == 0;
  return found;
}

std::optional<Reply> Service::admit(const Request& head) const {
  std::string allowed;
  const Route* route = find_route(routes(), head, allowed).route;
  const bool open = route != nullptr && route->open;
  const auto& tokens = context_.settings.token_hashes;
  if (!tokens.empty() && !open && !authorized(head.header("authorization"), tokens)) {
    Reply reply = error_reply(401, "this server needs a token: Authorization: Bearer TOKEN");
    reply.headers.emplace_back("WWW-Authenticate", "Bearer");
    return reply;
  }
  if (route == nullptr && allowed.empty())
    return error_reply(404, "there is nothing at " + head.path);
  if (route == nullptr) {
    Reply reply = error_reply(405, head.path + " takes " + allowed + ", not " + head.method);
    reply.headers.emplace_back("Allow", allowed);
    return reply;
  }
  if (foreign_origin(head)) return error_reply(403, "pages of other sites may not use this server");
  if (!route->images) return std::nullopt;
  if (!head.header("content-encoding").empty())
    return error_reply(415, "compressed bodies are not read; send it without Content-Encoding");
  try {
    body_kind(head);
  } catch (const StatusError& error) {
    return error_reply(error.status(), error.what());
  }
  if (!context_.queue.has_room())
    return busy_reply(429, "too many images are waiting; try again later");
  return std::nullopt;
}

void Service::answer(const std::shared_ptr<Exchange>& exchange) const {
  const Request& request = exchange->request();
  std::string allowed;
  const auto [route, model] = find_route(routes(), request, allowed);
  try {
    route->answer({context_, exchange, model});
  } catch (const StatusError& error) {
    exchange->answer(error_reply(error.status(), error.what()));
  }
}

void Service::complete(const Request& request, Reply& reply) const {
  reply.headers.emplace_back("X-Content-Type-Options", "nosniff");
  reply.headers.emplace_back("Cache-Control", "no-store");
  if (reply.problem.empty() || !request.path.starts_with("/v2")) return;
  Json json;  // errors of the Open Inference Protocol have only the message
  json["error"] = reply.problem;
  reply.body = dump(json) + "\n";
}

void Service::count(const Finished& finished) const {
  std::string allowed;
  const Route* route = find_route(routes(), finished.request, allowed).route;
  context_.metrics.count_request(route == nullptr ? "other" : std::string(route->path),
                                 finished.reply.status, finished.seconds.count());
  if (finished.reply.images != 0)
    context_.metrics.count_images(finished.reply.model, finished.reply.images,
                                  finished.seconds.count());
}

}  // namespace vit::tools::serve
