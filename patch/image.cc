#include "patch/image.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>
#include <new>
#include <string>
#include <utility>

#include "patch/codecs.h"
#include "patch/image_header.h"
#include "patch/orientation.h"
#include "patch/pixel_decoders.h"
#include "patch/resample_kernels.h"
#include "vit/base/error.h"

namespace vit::patch {
namespace {

// OpenCV's own limits. Checked here because it prints when it finds them broken.
constexpr size_t kMaxEdge = size_t{1} << 20;
constexpr size_t kMaxPixels = size_t{1} << 30;

void check(const ImageHeader& header, std::span<const std::byte> bytes, std::string_view name) {
  const std::string_view format = to_string(header.format);
  if (header.format == FileFormat::kUnknown)
    fail(name, ": not a JPEG, PNG, WebP, BMP or TIFF image: ", describe_unknown(bytes));
  if (!header.problem.empty()) fail(name, ": cannot read this ", format, ": ", header.problem);
  if (!header.complete)
    fail(name, ": this ", format, " is cut short: it ends after ", bytes.size(), " bytes");
  if (header.width == 0 || header.height == 0)
    fail(name, ": damaged ", format, ": its header gives a size of ", header.width, "x",
         header.height);
  if (header.width > kMaxEdge || header.height > kMaxEdge ||
      header.width * header.height > kMaxPixels)
    fail(name, ": the image is too large: ", header.width, "x", header.height, " pixels; at most ",
         kMaxEdge, " a side and ", kMaxPixels, " in all are read");
  if (bytes.size() > INT_MAX)
    fail(name, ": the file is too large: ", bytes.size(), " bytes; at most ", INT_MAX, " are read");
}

/// The bytes that the decoder gets; those of `rewritten` where the file's own would mislead it.
std::span<const std::byte> prepared(std::span<const std::byte> bytes, const ImageHeader& header,
                                    std::vector<std::byte>& rewritten) {
  if (header.format == FileFormat::kPng)
    rewritten = essential_png(bytes);
  else if (header.straight_alpha != 0)
    rewritten = unmultiplied_tiff(bytes, header);
  else
    return bytes;
  return rewritten;
}

Image decode_by_module(std::span<const std::byte> bytes, const ImageHeader& header) {
  DecodedImage decoded = codecs().decode(bytes, header);
  if (decoded.out_of_memory) throw std::bad_alloc();
  if (!decoded.problem.empty())
    fail("cannot decode this ", to_string(header.format), ": ", decoded.problem);
  Image& image = decoded.image;
  resample_kernels(active_isa()).swap_red_and_blue(image.pixels.data(), image.width * image.height);
  return std::move(image);
}

/// Without pixels if it cannot be decoded.
Image decode_pixels(std::span<const std::byte> bytes, const ImageHeader& header) {
  if (header.format != FileFormat::kJpeg && header.format != FileFormat::kPng)
    return decode_by_module(bytes, header);
  Image image{header.width, header.height, {}};
  image.pixels.resize(header.width * header.height * 3);
  const bool whole =
      header.format == FileFormat::kJpeg ? decode_jpeg(bytes, image) : decode_png(bytes, image);
  return whole ? std::move(image) : Image{};
}

Image decode_checked(std::span<const std::byte> bytes, const ImageHeader& header,
                     std::string_view name) {
  try {
    Image image = decode_pixels(bytes, header);
    if (image.pixels.empty())
      fail("cannot decode this ", to_string(header.format), ": it is damaged, or of a rare kind");
    return image;
  } catch (const Error& error) {
    fail(name, ": ", error.what());
  } catch (const std::bad_alloc&) {
    fail(name, ": not enough memory for ", header.width, "x", header.height, " pixels");
  }
}

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::error_code none;
  const auto status = std::filesystem::status(path, none);
  if (!std::filesystem::exists(status)) fail(path.string(), ": no such file");
  if (std::filesystem::is_directory(status))
    fail(path.string(), ": is a folder, expected an image file");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path.string(), ": cannot open: ", std::strerror(errno));
  std::vector<std::byte> bytes;
  const auto size = std::filesystem::file_size(path, none);  // a pipe has none
  constexpr size_t kChunk = size_t{1} << 16;
  for (size_t next = none ? kChunk : static_cast<size_t>(size) + 1; file; next = kChunk) {
    const size_t had = bytes.size();
    bytes.resize(had + next);
    file.read(reinterpret_cast<char*>(&bytes[had]), static_cast<std::streamsize>(next));
    bytes.resize(had + static_cast<size_t>(file.gcount()));
  }
  if (file.bad()) fail(path.string(), ": cannot read: ", std::strerror(errno));
  return bytes;
}

}  // namespace

Image decode(std::span<const std::byte> bytes, std::string_view name, Exif exif) {
  if (bytes.empty()) fail(name, ": the file is empty");
  const ImageHeader header = read_header(bytes);
  check(header, bytes, name);
  std::vector<std::byte> rewritten;
  Image image = decode_checked(prepared(bytes, header, rewritten), header, name);
  if (header.orientation == 1) return image;
  // OpenCV turns a TIFF whatever it is asked.
  const bool turned = header.format == FileFormat::kTiff;
  if (turned == (exif == Exif::kApply)) return image;
  return oriented(image, turned ? inverse_orientation(header.orientation) : header.orientation);
}

Image read_image(const std::filesystem::path& path, Exif exif) {
  return decode(read_file(path), path.string(), exif);
}

}  // namespace vit::patch
