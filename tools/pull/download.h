/// Downloads one file from the hub, complete and verified, or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "tools/pull/hub.h"

namespace vit::tools {

/// Called with the number of bytes so far.
using Progress = std::function<void(std::uintmax_t bytes)>;

/// Resumes an earlier download. Returns the hash that was verified: "sha256", "git sha1", or
/// nothing if the server gave none. Throws an Error: not enough space, size or hash differ from
/// those of the hub (the file is removed), the network failed (the part is kept).
std::string download(HubRepository& repository, const RemoteFile& file,
                     const std::filesystem::path& path, const Progress& progress);

}  // namespace vit::tools
