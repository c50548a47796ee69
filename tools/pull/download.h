/// One file from the hub to the disk, whole and checked, or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "tools/pull/hub.h"

namespace vit::tools {

/// Told how many bytes are there.
using Progress = std::function<void(std::uintmax_t bytes)>;

/// Continues where an earlier download was cut. Returns the hash that was verified: "sha256",
/// "git sha1", or nothing where the server gave none. Throws an Error: no room on the disk, size or
/// hash are not what the hub promised (nothing is left then), the network (what came is kept).
std::string download(HubRepository& repository, const RemoteFile& file,
                     const std::filesystem::path& path, const Progress& progress);

}  // namespace vit::tools
