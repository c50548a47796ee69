/// A download with its progress on the terminal.
#pragma once

#include <filesystem>
#include <string>

#include "tools/pull/download.h"

namespace vit::tools {

/// As download(). Returns how the content was verified: "sha256 verified", …
std::string shown_download(HubRepository& repository, const RemoteFile& remote,
                           const std::filesystem::path& path);

}  // namespace vit::tools
