/// The Hugging Face hub, or a mirror of it: the files of a repository, with sizes and hashes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/pull/http.h"
#include "tools/pull/retry.h"

namespace vit::tools {

struct HubSettings {
  std::string endpoint = "https://huggingface.co";
  std::string token;  ///< empty: none
  std::string revision = "main";
  Retries retries{};
};

/// HF_ENDPOINT and HF_TOKEN. Throws an Error if the endpoint is not a web address, or if the token
/// would be sent unencrypted.
HubSettings hub_from_environment();
/// HF_HUB_OFFLINE, with any value that means yes.
bool offline_by_environment();

/// One file, as the hub's own headers describe it.
struct RemoteFile {
  std::string name;
  std::string url;
  std::optional<std::uintmax_t> size;
  /// 64 hexadecimal digits: the sha256; 40: git's sha1 of the content; other or empty: no hash.
  std::string etag;
};

/// One repository at one revision.
class HubRepository {
 public:
  HubRepository(HttpClient& client, HubSettings settings, std::string name);

  /// None if the repository has no such file. Throws an Error that says what to do when the
  /// repository is unknown, private or gated.
  std::optional<RemoteFile> find(const std::string& file);
  /// Every file at its top level.
  std::vector<std::string> list();
  /// Sends `request` to request.url and follows redirects. The token is sent to the hub only.
  Response get(Request request);

  const std::string& name() const { return name_; }
  /// The commit of the revision at the first response; empty: unknown.
  const std::string& commit() const { return commit_; }
  const Retries& retries() const { return settings_.retries; }

 private:
  Response head(std::string url);
  std::string token_for(const std::string& url) const;
  [[noreturn]] void refuse(const Response& response, const std::string& what) const;

  HttpClient& client_;
  HubSettings settings_;
  std::string name_;
  std::string commit_;
};

}  // namespace vit::tools
