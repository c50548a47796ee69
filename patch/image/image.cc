#include "patch/image/image.h"

#include <new>
#include <string>
#include <utility>

#include "patch/image/codecs.h"
#include "patch/image/image_bytes.h"
#include "patch/image/image_header.h"
#include "patch/image/orientation.h"
#include "patch/image/pixel_budget.h"
#include "patch/image/pixel_decoders.h"
#include "vit/base/error.h"

namespace vit::patch {
namespace {

constexpr size_t kMaxEdge = size_t{1} << 20;
constexpr size_t kHarmlessPixels = size_t{1} << 20;  // whatever the header says

void check_size(const ImageHeader& header, std::string_view name, size_t max_pixels) {
  const auto size = [&] {
    return std::to_string(header.width) + "x" + std::to_string(header.height);
  };
  if (header.width == 0 || header.height == 0)
    fail(name, ": damaged ", to_string(header.format), ": its header gives a size of ", size());
  if (header.width > kMaxEdge || header.height > kMaxEdge)
    fail(name, ": the image is too large: ", size(), " pixels; at most ", kMaxEdge,
         " a side are read");
  const size_t pixels = header.width * header.height;
  if (pixels > kHarmlessPixels && pixels > header.most_pixels)
    fail(name, ": damaged ", to_string(header.format), ": its header gives a size of ", size(),
         ", but its data is too short for that");
  if (pixels > max_pixels)
    fail(name, ": the image is too large: ", size(), " are ", pixels, " pixels, the limit is ",
         max_pixels, "; raise it with --max-pixels or make the image smaller");
}

void check(const ImageHeader& header, std::span<const std::byte> bytes, std::string_view name) {
  const std::string_view format = to_string(header.format);
  if (!header.problem.empty()) fail(name, ": cannot read this ", format, ": ", header.problem);
  if (!header.complete)
    fail(name, ": this ", format, " is cut short: it ends after ", bytes.size(), " bytes");
  if (bytes.size() > kMaxFileBytes)
    fail(name, ": the file is too large: ", bytes.size(), " bytes; at most ", kMaxFileBytes,
         " are read");
}

std::string by_module(DecodeProblem problem) {
  if (problem.out_of_memory) throw std::bad_alloc();
  return std::move(problem.text);
}

/// What is wrong, empty if nothing is.
std::string decode_pixels(std::span<const std::byte> bytes, FileFormat format, Image& image) {
  switch (format) {
    case FileFormat::kJpeg:
      return decode_jpeg(bytes, image);
    case FileFormat::kPng:
      return decode_png(essential_png(bytes), image);
    case FileFormat::kBmp:
      return decode_bmp(bytes, image);
    case FileFormat::kTiff:
      return by_module(decoders().tiff(bytes, image));
    case FileFormat::kWebp:
      return by_module(decoders().webp(bytes, image));
    case FileFormat::kUnknown:
      break;
  }
  return "of no known format";
}

}  // namespace

Image decode(std::span<const std::byte> bytes, std::string_view name,
             const DecodeOptions& options) {
  if (bytes.empty()) fail(name, ": the file is empty");
  check_format(bytes, name);
  const ImageHeader header = read_header(bytes);
  check(header, bytes, name);
  check_size(header, name, options.max_pixels);
  Image image{header.width, header.height, {}};
  if (options.budget != nullptr)
    image.lease = options.budget->take(image.width * image.height, options.stop);
  try {
    image.pixels.reserve(image.width * image.height * 3);
    const std::string problem = decode_pixels(bytes, header.format, image);
    if (!problem.empty())
      fail(name, ": cannot decode this ", to_string(header.format), ": ", problem);
    if (header.orientation != 1 && options.exif == Exif::kApply)
      return oriented(image, header.orientation);
    return image;
  } catch (const std::bad_alloc&) {
    fail(name, ": not enough memory for ", header.width, "x", header.height, " pixels");
  }
}

Image read_image(const std::filesystem::path& path, const DecodeOptions& options) {
  return decode(read_image_bytes(path), path.string(), options);
}

}  // namespace vit::patch
