/// What an image file says about itself, found out before any decoder sees it: decoders print to
/// the terminal about broken files, or fill what is missing with grey.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vit::patch {

using std::size_t;

enum class FileFormat { kUnknown, kJpeg, kPng, kWebp, kBmp, kTiff };

struct ImageHeader {
  FileFormat format = FileFormat::kUnknown;
  size_t width = 0;           ///< as stored, before the orientation is applied
  size_t height = 0;          ///< 0: the header is broken
  int orientation = 1;        ///< EXIF's, 1 to 8
  bool complete = false;      ///< the file goes on to the end of the image
  bool deep = false;          ///< a TIFF of 16 bits a sample
  size_t straight_alpha = 0;  ///< where a TIFF says that its colours are not multiplied by alpha
  std::string problem = {};   ///< what makes it undecodable, if anything does
};

std::string_view to_string(FileFormat format);  ///< "JPEG", …

ImageHeader read_header(std::span<const std::byte> bytes);

ImageHeader read_jpeg_header(std::span<const std::byte> bytes);
ImageHeader read_png_header(std::span<const std::byte> bytes);
ImageHeader read_webp_header(std::span<const std::byte> bytes);
ImageHeader read_bmp_header(std::span<const std::byte> bytes);
ImageHeader read_tiff_header(std::span<const std::byte> bytes);

/// The orientation in an EXIF block, which is a small TIFF file; 1 if it has none that makes sense.
int exif_orientation(std::span<const std::byte> exif);

/// The PNG without its remarks (colour profiles, times, texts), about which libpng prints warnings.
std::vector<std::byte> essential_png(std::span<const std::byte> bytes);

/// The TIFF with its alpha declared as multiplied already: libtiff multiplies it otherwise.
std::vector<std::byte> unmultiplied_tiff(std::span<const std::byte> bytes,
                                         const ImageHeader& header);

/// What a file of no known format looks like: "it starts like text", "it is a GIF image", …
std::string describe_unknown(std::span<const std::byte> bytes);

}  // namespace vit::patch
