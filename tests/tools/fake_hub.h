/// Answers as the Hugging Face hub does: large files are described and stored elsewhere.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "tests/tools/http_server.h"
#include "tools/output/digest.h"

namespace vit::tools {

inline std::string sha256_of(const std::string& content) {
  Digest digest = Digest::sha256();
  digest.add(std::as_bytes(std::span(content)));
  return digest.finish();
}

inline std::string git_sha1_of(const std::string& content) {
  Digest digest = Digest::git_blob(content.size());
  digest.add(std::as_bytes(std::span(content)));
  return digest.finish();
}

/// Two servers: the hub and, at another address, the store of large files. Set before use.
class FakeHub {
 public:
  std::string repository;
  std::map<std::string, std::string> small_files;  ///< stored in git, sent by the hub itself
  std::map<std::string, std::string> large_files;
  std::optional<std::string> promised_hash{};  ///< instead of the true one, of large files
  std::optional<size_t> promised_size{};
  std::string commit{};                ///< of the branch main; empty: the hub does not say
  std::optional<HttpReply> refusal{};  ///< the answer to everything
  std::vector<HttpReply>
      interludes{};     ///< the store's first answers; their body is part of the file
  bool ranges = true;   ///< whether the store supports the Range header
  bool lengths = true;  ///< whether answers state their length
  std::optional<std::string> small_etag{};    ///< instead of the true hash, of small files
  std::optional<std::string> sent_instead{};  ///< the body of every small file

  explicit FakeHub(std::string name)
      : repository(std::move(name)),
        store_([this](const HttpRequest& request) { return answer_store(request); }),
        hub_([this](const HttpRequest& request) { return answer_hub(request); }) {}

  std::string address() const { return hub_.address(); }
  std::vector<HttpRequest> hub_requests() const { return hub_.requests(); }
  std::vector<HttpRequest> store_requests() const { return store_.requests(); }
  bool stalled() const { return store_.stalled(); }
  void forget_requests() {
    hub_.forget_requests();
    store_.forget_requests();
  }

 private:
  static HttpReply missing() {
    return {.status = 404, .headers = {{"X-Error-Code", "EntryNotFound"}}, .body = "no"};
  }

  HttpReply answer_hub(const HttpRequest& request) {
    if (refusal) return *refusal;
    if (request.path == "/api/models/" + repository + "/revision/main") return listing();
    const std::string before = "/" + repository + "/resolve/";
    const size_t slash = request.path.rfind('/');
    const std::string revision = request.path.starts_with(before)
                                     ? request.path.substr(before.size(), slash - before.size())
                                     : "";
    if (revision != "main" && (commit.empty() || revision != commit))
      return {.status = 401, .headers = {{"X-Error-Code", "RepoNotFound"}}, .body = "no"};
    HttpReply reply = describe(request.path.substr(slash + 1));
    if (!commit.empty()) reply.headers["X-Repo-Commit"] = commit;
    return reply;
  }

  HttpReply describe(const std::string& name) {
    if (const auto found = small_files.find(name); found != small_files.end())
      return {.status = 200,
              .headers = {{"ETag", "\"" + small_etag.value_or(git_sha1_of(found->second)) + "\""}},
              .body = sent_instead.value_or(found->second),
              .no_length = !lengths};
    const auto found = large_files.find(name);
    if (found == large_files.end()) return missing();
    const size_t size = promised_size.value_or(found->second.size());
    HttpReply reply{.status = 302,
                    .headers = {{"X-Linked-ETag",
                                 "\"" + promised_hash.value_or(sha256_of(found->second)) + "\""},
                                {"ETag", "\"of the redirect\""},
                                {"Location", store_.address() + "/" + name}},
                    .body = "elsewhere"};
    if (lengths) reply.headers["X-Linked-Size"] = std::to_string(size);
    return reply;
  }

  HttpReply listing() const {
    std::string body;
    for (const auto* files : {&small_files, &large_files})
      for (const auto& [name, content] : *files)
        body += (body.empty() ? "" : ", ") + ("{\"rfilename\": \"" + name + "\"}");
    return {.status = 200, .headers = {}, .body = "{\"siblings\": [" + body + "]}"};
  }

  HttpReply answer_store(const HttpRequest& request) {
    HttpReply reply;
    reply.no_length = !lengths;
    if (!interludes.empty()) {
      reply = interludes.front();
      interludes.erase(interludes.begin());
      if (reply.status != 200) return reply;
    }
    const std::string& content = large_files.at(request.path.substr(1));
    reply.body = content;
    const std::string range = request.header("range");
    if (range.empty() || !ranges) return reply;
    const size_t from = std::stoul(range.substr(range.find('=') + 1));
    reply.status = 206;
    reply.body = content.substr(from);
    reply.headers["Content-Range"] = "bytes " + std::to_string(from) + "-" +
                                     std::to_string(content.size() - 1) + "/" +
                                     std::to_string(content.size());
    return reply;
  }

  HttpServer store_;
  HttpServer hub_;
};

}  // namespace vit::tools
