/// The bytes of an image file, read only as far as it looks like an image.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "patch/image/image.h"

namespace vit::patch {

struct ImageHeader;

/// More bytes than this are not read.
inline constexpr std::size_t kMaxFileBytes = 0x7fffffff;

/// A file, a member of an archive or a pipe.
struct ByteSource {
  std::string name;                      ///< opens the messages
  std::optional<std::size_t> size = {};  ///< none: a pipe, which is read in order only
  /// Fills the bytes from offset `at` on; returns how many there were, 0 at the end.
  std::function<std::size_t(std::size_t at, std::span<std::byte> bytes)> read;
};

/// An open file, such as standard input, which may be a pipe. Does not close it.
ByteSource open_source(int file, const std::string& name);

/// Whether the rest of a large file is worth reading: throws if not.
using BeforeRest = std::function<void(const ImageHeader&)>;

/// Throws an Error that opens with the source's name. A source that does not start like an image is
/// an error as soon as its first bytes are read, so that devices and huge files cost nothing. Of
/// the others 32 MB are read; then `before_rest` is called with the size of the image, and as much
/// is read as an image of that size can need.
std::vector<std::byte> read_image_bytes(const ByteSource& source,
                                        const BeforeRest& before_rest = {});

/// Takes the image's share of the budget before the rest of a large file is read.
Image decode(const ByteSource& source, const DecodeOptions& options = {});

}  // namespace vit::patch
