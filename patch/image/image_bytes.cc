#include "patch/image/image_bytes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "patch/image/byte_reader.h"
#include "patch/image/image_header.h"
#include "vit/base/error.h"

namespace vit::patch {
namespace {

constexpr size_t kChunk = size_t{1} << 16;
constexpr size_t kAnyImage = size_t{32} << 20;  ///< read of every file; most end before

/// Appends up to `count` bytes. False: the source has ended.
bool read_more(const ByteSource& source, size_t count, std::vector<std::byte>& bytes) {
  const size_t had = bytes.size();
  bytes.resize(had + count);
  const size_t got = source.read(had, std::span(bytes).subspan(had));
  bytes.resize(had + got);
  return got > 0;
}

/// Appends until there are `most`. False: the source has ended.
bool read_until(const ByteSource& source, size_t most, std::vector<std::byte>& bytes) {
  // The last read finds the end, so it needs a byte more than there is.
  if (source.size) bytes.reserve(std::min(*source.size + 1, most));
  while (bytes.size() < most) {
    const size_t spare = bytes.capacity() - bytes.size();
    if (!read_more(source, std::min(spare != 0 ? spare : kChunk, most - bytes.size()), bytes))
      return false;
  }
  return true;
}

/// A TIFF of nothing but the directory that the source has somewhere behind `bytes`: enough for
/// the size of its image.
std::vector<std::byte> tiff_directory(const ByteSource& source, std::span<const std::byte> bytes) {
  const bool little = bytes[0] == std::byte{'I'};
  const ByteReader reader(bytes, little ? ByteOrder::kLittle : ByteOrder::kBig);
  constexpr size_t kStart = 8, kMost = 2 + 12 * size_t{0xffff};
  std::vector<std::byte> tiff(kStart + kMost);
  std::copy_n(bytes.begin(), 4, tiff.begin());
  tiff[little ? 4 : 7] = std::byte{kStart};
  const size_t got = source.read(reader.u32(4), std::span(tiff).subspan(kStart));
  tiff.resize(kStart + got);
  return tiff;
}

/// The header as far as it is known. Of a TIFF in a pipe it may be still to come.
ImageHeader known_header(const ByteSource& source, std::span<const std::byte> bytes) {
  ImageHeader header = read_header(bytes);
  if (header.format != FileFormat::kTiff || header.width != 0 || !source.size) return header;
  const ImageHeader directory = read_header(tiff_directory(source, bytes));
  header.width = directory.width;
  header.height = directory.height;
  return header;
}

/// What a file with an image of this size may have: the largest pixels of its format, and 32 MB of
/// other things.
size_t most_bytes(const ImageHeader& header, bool pipe) {
  if (header.format == FileFormat::kTiff && header.width == 0 && pipe) return kMaxFileBytes;
  size_t per_pixel = 6;                                           // JPEG, WebP and BMP have up to 4
  if (header.format == FileFormat::kPng) per_pixel = 9;           // 4 samples of 2 bytes, stored
  if (header.format == FileFormat::kTiff) per_pixel = 32;         // 16 samples of 2 bytes
  const size_t edge = std::numeric_limits<std::uint32_t>::max();  // no product overflows
  const size_t pixels = std::min(header.width, edge) * std::min(header.height, edge);
  return kAnyImage + std::min(pixels, kMaxFileBytes) * per_pixel;
}

}  // namespace

ByteSource open_source(int file, const std::string& name) {
  struct stat status {};
  if (::fstat(file, &status) != 0) fail_at(name, "cannot read: ", std::strerror(errno));
  if (S_ISDIR(status.st_mode)) fail_at(name, "is a folder, expected an image file");
  const bool seekable = S_ISREG(status.st_mode);
  ByteSource source{.name = name, .read = {}};
  // A file given as standard input may have been read in part by another process.
  const off_t start = seekable ? ::lseek(file, 0, SEEK_CUR) : 0;
  if (seekable) source.size = static_cast<size_t>(std::max<off_t>(status.st_size - start, 0));
  source.read = [file, name, seekable, start](size_t at, std::span<std::byte> bytes) {
    ssize_t got = 0;
    do
      got = seekable ? ::pread(file, bytes.data(), bytes.size(), start + static_cast<off_t>(at))
                     : ::read(file, bytes.data(), bytes.size());
    while (got < 0 && errno == EINTR);
    if (got < 0) fail_at(name, "cannot read: ", std::strerror(errno));
    return static_cast<size_t>(got);
  };
  return source;
}

std::vector<std::byte> read_image_bytes(const ByteSource& source, const BeforeRest& before_rest) {
  const std::string& name = source.name;
  if (source.size.value_or(0) > kMaxFileBytes)
    fail_at(name, "the file is too large: ", *source.size, " bytes; at most ", kMaxFileBytes,
            " are read");
  std::vector<std::byte> bytes;
  constexpr size_t kEnoughToTell = 64;  // also what describe_unknown looks at
  while (bytes.size() < kEnoughToTell)
    if (!read_more(source, kChunk, bytes)) break;
  if (bytes.empty()) fail_at(name, "the file is empty");
  check_format(bytes, name);
  if (!read_until(source, kAnyImage, bytes)) return bytes;

  const ImageHeader header = known_header(source, bytes);
  if (header.complete) return bytes;  // bytes behind the image do not matter
  if (before_rest) before_rest(header);
  const size_t most = std::min(most_bytes(header, !source.size), kMaxFileBytes);
  if (!read_until(source, most, bytes) || read_header(bytes).complete) return bytes;
  fail_at(name, "the file is too large: ",
          source.size ? std::to_string(*source.size) + " bytes" : "of unknown length",
          ", but the first ", most, " do not hold a whole ", to_string(header.format), " of ",
          header.width, "x", header.height, " pixels");
}

}  // namespace vit::patch
