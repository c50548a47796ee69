// Formats that are recognised but not read, and how to convert them.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "patch/image/byte_reader.h"
#include "patch/image/image_header.h"

namespace vit::patch {
namespace {

struct Signature {
  size_t at;
  std::string_view bytes;
  std::string_view name;
  std::string_view advice;
};

constexpr std::string_view kRaw = "a camera's raw file";
constexpr std::string_view kDevelop = "develop it: darktable-cli FILE out.jpg";
constexpr std::string_view kFrame = "save a frame: ffmpeg -i FILE -frames:v 1 out.png";
constexpr std::string_view kConvert = "convert it: convert 'FILE[0]' out.png (ImageMagick)";
constexpr std::string_view kUnpack = "unpack it";

// Files that are often given as images because of their names. The first signature that matches
// counts.
constexpr auto kForeign = std::to_array<Signature>({
    {4, "ftypcrx ", kRaw, kDevelop},
    {4, "ftyp", "a video", kFrame},
    {0, "\x1a\x45\xdf\xa3", "a Matroska or WebM video", kFrame},
    {8, "AVI LIST", "an AVI video", kFrame},
    {0, {"\0\0\x01\xba", 4}, "an MPEG video", kFrame},
    {4, "jP  \r\n", "a JPEG 2000 image", "convert it: opj_decompress -i FILE -o out.png"},
    {0, "\xff\x4f\xff\x51", "a JPEG 2000 image", "convert it: opj_decompress -i FILE -o out.png"},
    {4, "JXL ", "a JPEG XL image", "convert it: djxl FILE out.png"},
    {0, "\xff\x0a", "a JPEG XL image", "convert it: djxl FILE out.png"},
    {0, {"II+\0", 4}, "a BigTIFF image", "convert it: tiffcp -4 FILE out.tif"},
    {0, {"MM\0+", 4}, "a BigTIFF image", "convert it: tiffcp -4 FILE out.tif"},
    {0, "FUJIFILMCCD-RAW", kRaw, kDevelop},
    {0, {"IIU\0", 4}, kRaw, kDevelop},
    {0, "IIRO", kRaw, kDevelop},
    {0, "IIRS", kRaw, kDevelop},
    {0, "FOVb", kRaw, kDevelop},
    {0, {"\0MRM", 4}, kRaw, kDevelop},
    {6, "HEAPCCDR", kRaw, kDevelop},
    {0, "8BPS", "a Photoshop document", kConvert},
    {0, "gimp xcf", "a GIMP document", kConvert},
    {0, "\x76\x2f\x31\x01", "an OpenEXR image", kConvert},
    {0, "%PDF", "a PDF document", "save its pages as images: pdftoppm -png FILE out"},
    {0, "%!PS", "a PostScript document", kConvert},
    {0, "<svg", "an SVG drawing", "draw it: rsvg-convert FILE -o out.png"},
    {128, "DICM", "a DICOM image", "convert it: dcmj2pnm +on FILE out.png (dcmtk)"},
    {0, "SIMPLE  =", "a FITS image", kConvert},
    {0, {"\0\0\x01\0", 4}, "an icon", kConvert},
    {0, "P6\n", "a PPM image", kConvert},
    {0, "P5\n", "a PGM image", kConvert},
    {0, "qoif", "a QOI image", kConvert},
    {0, "PK\x03\x04", "a zip archive", kUnpack},
    {0, "\x1f\x8b", "a gzip archive", kUnpack},
    {0, "7z\xbc\xaf", "a 7-Zip archive", kUnpack},
    {0, "Rar!", "a RAR archive", kUnpack},
    {0,
     "\xfd"
     "7zXZ",
     "an xz archive", kUnpack},
    {0, "\x28\xb5\x2f\xfd", "a Zstandard archive", kUnpack},
    {0, "BZh", "a bzip2 archive", kUnpack},
});

bool is_text(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) {
    const int code = std::to_integer<int>(byte);
    return code >= 0x80 || std::isprint(code) || std::isspace(code);
  });
}

}  // namespace

std::string describe_unknown(std::span<const std::byte> bytes) {
  const ByteReader reader(bytes, ByteOrder::kBig);
  for (const Signature& signature : kForeign)
    if (reader.says(signature.at, signature.bytes))
      return "it is " + std::string(signature.name) + "; " + std::string(signature.advice);
  const auto start = reader.part(0, 64);
  if (is_text(start)) return "it starts like text";
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "it starts with the bytes";
  for (const std::byte byte : start.first(std::min<size_t>(start.size(), 8))) {
    const auto code = std::to_integer<unsigned>(byte);
    text += {' ', kDigits[code / 16], kDigits[code % 16]};
  }
  return text;
}

}  // namespace vit::patch
