#include "tools/pull/hub.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

namespace vit::tools {
namespace {

constexpr int kMostRedirects = 10;
constexpr size_t kLargestListing = 1 << 20;  // as JSON in memory it is 75 times as large

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_redirect(const Response& response) {
  return response.status >= 300 && response.status < 400 && !response.header("location").empty();
}

/// Bytes of a path that need no %NN.
std::string encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string result;
  for (const unsigned char c : text) {
    if (std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '~') {
      result += static_cast<char>(c);
    } else {
      result += '%';
      result += kDigits[c >> 4];
      result += kDigits[c & 15];
    }
  }
  return result;
}

/// W/"abc" and "abc" are abc.
std::string unquoted(std::string etag) {
  if (etag.starts_with("W/")) etag.erase(0, 2);
  std::erase(etag, '"');
  return etag;
}

/// The next address. Throws an Error if it is not encrypted.
std::string next_url(const std::string& url, const Response& response) {
  std::string next = resolve_url(url, response.header("location"));
  if (url.starts_with("https:") && !next.starts_with("https:"))
    fail_at(origin_of(url), "redirects to '", origin_of(next), "', which is not encrypted");
  return next;
}

}  // namespace

HubSettings hub_from_environment() {
  HubSettings settings;
  settings.token = variable("HF_TOKEN");
  // Read from a file, it often ends in a line break, which a header must not hold.
  std::erase_if(settings.token, [](unsigned char c) { return std::isspace(c) != 0; });
  if (std::string endpoint = variable("HF_ENDPOINT"); !endpoint.empty()) {
    while (endpoint.ends_with('/')) endpoint.pop_back();
    if (!endpoint.starts_with("https://") && !endpoint.starts_with("http://"))
      fail("HF_ENDPOINT is '", without_credentials(endpoint), "', expected a web address such as ",
           settings.endpoint);
    settings.endpoint = endpoint;
  }
  if (!settings.token.empty() && settings.endpoint.starts_with("http://") &&
      !is_loopback(settings.endpoint))
    fail("HF_TOKEN would go to ", origin_of(settings.endpoint),
         " unencrypted, where others can read it; set HF_ENDPOINT to an https address, or unset ",
         "HF_TOKEN");
  return settings;
}

bool offline_by_environment() {
  std::string value = variable("HF_HUB_OFFLINE");
  std::ranges::transform(value, value.begin(), [](unsigned char c) { return std::tolower(c); });
  return value == "1" || value == "true" || value == "yes" || value == "on";
}

HubRepository::HubRepository(HttpClient& client, HubSettings settings, std::string name)
    : client_(client), settings_(std::move(settings)), name_(std::move(name)) {}

std::string HubRepository::token_for(const std::string& url) const {
  return same_origin(url, settings_.endpoint) ? settings_.token : "";
}

Response HubRepository::get(Request request) {
  for (int i = 0; i < kMostRedirects; ++i) {
    request.token = token_for(request.url);
    Response response = client_.perform(request);
    if (!is_redirect(response)) return response;
    request.url = next_url(request.url, response);
  }
  fail_at(origin_of(request.url), "redirects more than ", kMostRedirects, " times");
}

/// The hub's own response; redirects to the storage are not followed.
Response HubRepository::head(std::string url) {
  for (int i = 0; i < kMostRedirects; ++i) {
    Request request{.url = url, .token = token_for(url), .head = true};
    Response response = client_.perform(request);
    if (response.status >= 500 || response.status == 429)
      fail_as<BrokenConnection>(origin_of(url), "is too busy, status ", response.status);
    if (!is_redirect(response) || !response.header("x-linked-etag").empty()) return response;
    url = next_url(url, response);
    if (!same_origin(url, settings_.endpoint)) return response;
  }
  fail_at(origin_of(url), "redirects more than ", kMostRedirects, " times");
}

void HubRepository::refuse(const Response& response, const std::string& what) const {
  const std::string code = response.header("x-error-code");
  const std::string said =
      "the hub says " + std::to_string(response.status) + (code.empty() ? "" : " (" + code + ")");
  const std::string home = without_credentials(settings_.endpoint) + "/" + name_;
  const bool has_token = !settings_.token.empty();
  if (code == "RevisionNotFound")
    fail_at(name_, "has no revision '", settings_.revision, "' (", said, "); see ", home);
  if (code == "GatedRepo" || response.status == 403)
    fail_at(
        name_, "may not be read, ", said, "; accept its licence at ", home,
        has_token ? " with the account of HF_TOKEN" : ", then set HF_TOKEN to your access token");
  if (response.status == 401 || response.status == 404)
    fail_at(name_, "no such repository, or a private one: ", said, "; check the name at ", home,
            has_token ? "; HF_TOKEN gives no access to it"
                      : "; for a private one set HF_TOKEN to your access token");
  fail_at(name_, "cannot fetch ", what, ": ", said);
}

std::optional<RemoteFile> HubRepository::find(const std::string& file) {
  const std::string& revision = commit_.empty() ? settings_.revision : commit_;
  const std::string url =
      settings_.endpoint + "/" + name_ + "/resolve/" + encoded(revision) + "/" + encoded(file);
  const Response response = with_retries(
      settings_.retries, [] { return 0; }, [&] { return head(url); });
  const std::string code = response.header("x-error-code");
  if (response.status == 404 && (code.empty() || code == "EntryNotFound")) return {};
  if (response.status >= 400) refuse(response, file);

  if (commit_.empty()) commit_ = response.header("x-repo-commit");
  RemoteFile result{.name = file, .url = url, .size = {}, .etag = {}};
  result.size = response.number("x-linked-size");
  result.etag = unquoted(response.header("x-linked-etag"));
  if (!is_redirect(response)) {
    if (!result.size) result.size = response.number("content-length");
    if (result.etag.empty()) result.etag = unquoted(response.header("etag"));
  }
  return result;
}

std::vector<std::string> HubRepository::list() {
  const std::string& revision = commit_.empty() ? settings_.revision : commit_;
  std::string body;
  Request request{.url = settings_.endpoint + "/api/models/" + name_ + "/revision/" +
                         encoded(revision)};
  request.on_body = [&](std::span<const std::byte> bytes) {
    if (body.size() + bytes.size() > kLargestListing)
      fail_at(name_, "its list of files has more than ", kLargestListing >> 20, " MB");
    body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const Response response = with_retries(
      settings_.retries, [] { return 0; },
      [&] {
        body.clear();
        return get(request);
      });
  if (response.status != 200) refuse(response, "the list of files");
  const auto json = nlohmann::json::parse(body, nullptr, false);
  std::vector<std::string> names;
  if (!json.is_object() || !json.contains("siblings") || !json["siblings"].is_array())
    fail_at(name_, "the hub's list of files cannot be read");
  for (const auto& file : json["siblings"])
    if (file.is_object() && file.contains("rfilename") && file["rfilename"].is_string())
      if (auto name = file["rfilename"].get<std::string>(); name.find('/') == std::string::npos)
        names.push_back(std::move(name));
  return names;
}

}  // namespace vit::tools
