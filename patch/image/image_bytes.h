/// The bytes of an image file, read only as far as it looks like an image.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace vit::patch {

/// More bytes than this are not read.
inline constexpr std::size_t kMaxFileBytes = 0x7fffffff;

/// Throws an Error that opens with the path. A file that does not start like an image is an error
/// as soon as its first bytes are read, so that devices and huge files cost nothing.
std::vector<std::byte> read_image_bytes(const std::filesystem::path& path);

/// The same from an open file, such as standard input, which may be a pipe. Does not close it.
std::vector<std::byte> read_image_bytes(int file, const std::string& name);

}  // namespace vit::patch
