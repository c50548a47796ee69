#include "patch/image/image.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
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

std::string size_of(const ImageHeader& header) {
  return std::to_string(header.width) + "x" + std::to_string(header.height);
}

void check_edges(const ImageHeader& header, std::string_view name) {
  if (header.width > kMaxEdge || header.height > kMaxEdge)
    fail_at(name, "the image is too large: ", size_of(header), " pixels; at most ", kMaxEdge,
            " a side are read");
}

void check_pixels(const ImageHeader& header, std::string_view name, size_t max_pixels) {
  const size_t pixels = header.width * header.height;
  if (pixels > max_pixels)
    fail_at(name, "the image is too large: ", size_of(header), " are ", pixels,
            " pixels, the limit is ", max_pixels, "; raise max_pixels or make the image smaller");
}

void check_size(const ImageHeader& header, std::string_view name, size_t max_pixels) {
  if (header.width == 0 || header.height == 0)
    fail_at(name, "damaged ", to_string(header.format), ": its header gives a size of ",
            size_of(header));
  check_edges(header, name);
  const size_t pixels = header.width * header.height;
  if (pixels > kHarmlessPixels && pixels > header.most_pixels)
    fail_at(name, "damaged ", to_string(header.format), ": its header gives a size of ",
            size_of(header), ", but its data is too short for that");
  check_pixels(header, name, max_pixels);
}

void check(const ImageHeader& header, std::span<const std::byte> bytes, std::string_view name) {
  const std::string_view format = to_string(header.format);
  if (!header.problem.empty()) fail_at(name, "cannot read this ", format, ": ", header.problem);
  if (!header.complete)
    fail_at(name, "this ", format, " is cut short: it ends after ", bytes.size(), " bytes");
  if (bytes.size() > kMaxFileBytes)
    fail_at(name, "the file is too large: ", bytes.size(), " bytes; at most ", kMaxFileBytes,
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
    case FileFormat::kGif:
      return by_module(decoders().gif(bytes, image));
    case FileFormat::kHeic:
    case FileFormat::kAvif:
      return by_module(heif_decoders().heif(bytes, image));
    case FileFormat::kUnknown:
      break;
  }
  return "of no known format";
}

using Lease = std::shared_ptr<const void>;

Lease take_lease(const ImageHeader& header, const DecodeOptions& options) {
  if (options.budget == nullptr) return {};
  return options.budget->take(header.width * header.height, options.stop);
}

/// `lease`: the share that was taken before the file was read, if any was.
Image decode(std::span<const std::byte> bytes, std::string_view name, const DecodeOptions& options,
             Lease lease) {
  if (bytes.empty()) fail_at(name, "the file is empty");
  check_format(bytes, name);
  const ImageHeader header = read_header(bytes);
  check(header, bytes, name);
  check_size(header, name, options.max_pixels);
  Image image{header.width, header.height, {}};
  image.lease = lease ? std::move(lease) : take_lease(header, options);
  try {
    image.pixels.reserve(image.width * image.height * 3);
    const std::string problem = decode_pixels(bytes, header.format, image);
    if (!problem.empty())
      fail_at(name, "cannot decode this ", to_string(header.format), ": ", problem);
    if (header.orientation != 1 && options.exif == Exif::kApply)
      return oriented(image, header.orientation);
    return image;
  } catch (const std::bad_alloc&) {
    fail_at(name, "not enough memory for ", header.width, "x", header.height, " pixels");
  }
}

/// Closes it in the end.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (number_ >= 0) return;
    if (errno == ENOENT || errno == ENOTDIR) fail_at(path, "no such file");
    fail_at(path, "cannot open: ", std::strerror(errno));
  }
  ~OpenFile() { ::close(number_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

Image decode(std::span<const std::byte> bytes, std::string_view name,
             const DecodeOptions& options) {
  return decode(bytes, name, options, nullptr);
}

Image decode(const ByteSource& source, const DecodeOptions& options) {
  Lease lease;
  const auto bytes = read_image_bytes(source, [&](const ImageHeader& header) {
    check_edges(header, source.name);
    check_pixels(header, source.name, options.max_pixels);
    lease = take_lease(header, options);
  });
  return decode(bytes, source.name, options, std::move(lease));
}

Image read_image(const std::filesystem::path& path, const DecodeOptions& options) {
  const OpenFile file(path.string());
  return decode(open_source(file.number(), path.string()), options);
}

}  // namespace vit::patch
