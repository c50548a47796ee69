#include "tools/pull/shown_download.h"

#include "tools/cli/progress.h"

namespace vit::tools {

std::string shown_download(HubRepository& repository, const RemoteFile& remote,
                           const std::filesystem::path& path) {
  ProgressLine line;
  DownloadState state{.name = remote.name, .total = remote.size};
  const auto show = [&](std::uintmax_t bytes) {
    state.advance(bytes, line.seconds());
    line.update([&](size_t) { return progress_text(state); });
  };
  const std::string hash = download(repository, remote, path, show);
  return hash.empty() ? "not verified: no hash given by the server" : hash + " verified";
}

}  // namespace vit::tools
