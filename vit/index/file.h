/// The index file: unit vectors of images, and where they come from. README.md has the layout.
///
/// A file only grows, by whole blocks of rows; a row that was computed again or whose image is gone
/// is marked as replaced by a later block. A writer that is killed leaves whole blocks and at most
/// one incomplete block, which readers ignore and the next writer cuts off.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vit/index/vectors.h"

namespace vit::index {

enum class Status : std::uint32_t {
  kLive = 0,
  kFailed = 1,    ///< the image could not be read; its vector is zero
  kReplaced = 2,  ///< there is a later row for this image, or the image is gone; not in files
};

/// What is known of a row besides its vector.
struct Entry {
  std::string_view path{};  ///< of the image, not empty
  std::string_view note{};  ///< why it failed, or what is damaged
  std::uint64_t bytes = 0;  ///< of the image file
  std::int64_t time = 0;    ///< of its last change, nanoseconds since 1970
  std::uint32_t width = 0;  ///< pixels; 0: not known
  std::uint32_t height = 0;
  Status status = Status::kLive;
  std::array<std::byte, 32> content{};  ///< SHA-256 of the image file; zeros: not known
};

struct Format {
  NumberType type = NumberType::kF32;
  size_t width = 0;
  std::string description{};  ///< what made the vectors; this module does not look into it

  bool operator==(const Format&) const = default;
};

constexpr size_t kMostWidth = 65'536;

/// A file as it was when it was opened.
struct Index {
  Format format;
  Vectors vectors;                        ///< live where the entry is
  std::vector<Entry> entries;             ///< one per row
  std::vector<std::uint32_t> sums;        ///< CRC-32 of each block's numbers
  std::uint64_t end = 0;                  ///< of the last whole block, in the file
  std::shared_ptr<const void> storage{};  ///< what vectors and entries view
};

/// Maps the file. Checks everything but the numbers themselves, which are read when they are
/// needed. Throws an Error: not an index, of another version, damaged and where.
Index read_index(const std::filesystem::path& path);

/// The same from the bytes of a file, aligned to 64, which must live on. `where` opens the
/// messages.
Index parse_index(std::span<const std::byte> bytes, const std::string& where);

/// Throws an Error naming the first block whose numbers are not those that were written. Reads the
/// whole file.
void check_numbers(const Index& index, const std::filesystem::path& path);

}  // namespace vit::index
