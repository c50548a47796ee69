#include <tiffio.h>

#include <array>
#include <bit>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "patch/image/codecs/library_decoders.h"

namespace vit::patch {
namespace {

/// A file in memory, and what libtiff says about it.
struct Source {
  std::span<const std::byte> bytes;
  size_t at = 0;
  std::string error{};    ///< the first one
  std::string warning{};  ///< the first one that is about the pixels
  std::string end{};      ///< the first one that says that the rest of a strip or tile is missing
};

tmsize_t read_source(thandle_t handle, void* to, tmsize_t count) {
  auto& source = *static_cast<Source*>(handle);
  const size_t left = source.bytes.size() - std::min(source.at, source.bytes.size());
  const size_t given = std::min(static_cast<size_t>(std::max<tmsize_t>(count, 0)), left);
  if (given != 0) std::memcpy(to, source.bytes.data() + source.at, given);
  source.at += given;
  return static_cast<tmsize_t>(given);
}

tmsize_t write_nothing(thandle_t, void*, tmsize_t) {
  return 0;
}

toff_t seek_source(thandle_t handle, toff_t offset, int whence) {
  auto& source = *static_cast<Source*>(handle);
  if (whence == SEEK_CUR) offset += source.at;
  if (whence == SEEK_END) offset += source.bytes.size();
  source.at = offset;
  return offset;
}

int close_nothing(thandle_t) {
  return 0;
}

toff_t size_of_source(thandle_t handle) {
  return static_cast<Source*>(handle)->bytes.size();
}

/// The file needs not be read, it is there.
int map_source(thandle_t handle, void** start, toff_t* size) {
  auto& source = *static_cast<Source*>(handle);
  *start = const_cast<std::byte*>(source.bytes.data());
  *size = source.bytes.size();
  return 1;
}

void unmap_nothing(thandle_t, void*, toff_t) {}

std::string formatted(const char* module, const char* format, va_list arguments) {
  std::array<char, 400> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  return module != nullptr && *module != '\0' ? std::string(module) + ": " + text.data()
                                              : text.data();
}

int hear_error(TIFF*, void* user, const char* module, const char* format, va_list arguments) {
  auto& source = *static_cast<Source*>(user);
  if (source.error.empty()) source.error = formatted(module, format, arguments);
  return 1;
}

/// libtiff takes whatever follows the pixels for the rest of them.
bool is_about_lengths(std::string_view format) {
  return format.starts_with("Bogus \"StripByteCounts\"") ||
         format.starts_with("Wrong \"StripByteCounts\"");
}

/// Codecs that go on after damage warn; so do others about fields that do not matter.
int hear_warning(TIFF*, void* user, const char* module, const char* format, va_list arguments) {
  auto& source = *static_cast<Source*>(user);
  const std::string_view name(module != nullptr ? module : "");
  const bool jpeg = name == "JPEGLib" || name.starts_with("OJPEG");
  const bool about_pixels = jpeg || name.starts_with("Fax") || name.starts_with("PackBitsDecode") ||
                            is_about_lengths(format);
  if (!about_pixels) return 1;
  const std::string text = formatted(module, format, arguments);
  if (source.warning.empty()) source.warning = text;
  const bool ends = jpeg && text.find("remature end") != std::string::npos;
  if (ends && source.end.empty()) source.end = text;
  return 1;
}

struct Closer {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
  void operator()(TIFFOpenOptions* options) const { TIFFOpenOptionsFree(options); }
};
using TiffHandle = std::unique_ptr<TIFF, Closer>;

TiffHandle open_tiff(Source& source) {
  const std::unique_ptr<TIFFOpenOptions, Closer> options(TIFFOpenOptionsAlloc());
  if (!options) throw std::bad_alloc();
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), hear_error, &source);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), hear_warning, &source);
  return TiffHandle(TIFFClientOpenExt("", "r", &source, read_source, write_nothing, seek_source,
                                      close_nothing, size_of_source, map_source, unmap_nothing,
                                      options.get()));
}

/// True if a codec has made up pixels before it came to the second half of the rows. The reason
/// then is an error, as if the codec had stopped.
bool is_mostly_missing(TIFF* tiff, size_t rows_read, const Image& image) {
  auto& source = *static_cast<Source*>(TIFFClientdata(tiff));
  if (source.end.empty() || 2 * rows_read >= image.height) return false;
  if (source.error.empty()) source.error = source.end;
  return true;
}

struct Kind {
  std::uint32_t width = 0, height = 0;
  std::uint16_t compression = COMPRESSION_NONE;
  std::uint16_t photometric = PHOTOMETRIC_MINISWHITE;
  std::uint16_t bits = 1, samples = 1, planar = PLANARCONFIG_CONTIG;
  std::uint16_t format = SAMPLEFORMAT_UINT;
  bool tiled = false;
  std::uint32_t block_width = 0, block_height = 0;  ///< of a tile or strip

  bool grey() const {
    return photometric == PHOTOMETRIC_MINISWHITE || photometric == PHOTOMETRIC_MINISBLACK;
  }
  /// The largest number where the product would overflow.
  size_t tile_bytes() const {
    const size_t values = planar == PLANARCONFIG_SEPARATE ? 1 : samples;
    const size_t pixels = size_t{block_width} * block_height;
    constexpr size_t kLargest = ~size_t{0};
    return pixels > kLargest / 256 ? kLargest : (pixels * values * bits + 7) / 8;
  }
  /// Grey and RGB of whole bytes need no more than their samples put in place.
  bool simple() const {
    return (bits == 8 || bits == 16) &&
           (grey() || (photometric == PHOTOMETRIC_RGB && samples >= 3));
  }
};

Kind kind_of(TIFF* tiff) {
  Kind kind;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &kind.width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &kind.height);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &kind.compression);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &kind.bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &kind.samples);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &kind.planar);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &kind.format);
  if (TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &kind.photometric) == 0)
    kind.photometric = kind.samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
  kind.tiled = TIFFIsTiled(tiff) != 0;
  if (kind.tiled) {
    TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &kind.block_width);
    TIFFGetField(tiff, TIFFTAG_TILELENGTH, &kind.block_height);
  } else {
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &kind.block_height);
    kind.block_width = kind.width;
    kind.block_height = std::min(kind.block_height, kind.height);
  }
  return kind;
}

std::string compression_name(std::uint16_t compression) {
  if (const TIFFCodec* codec = TIFFFindCODEC(compression)) return codec->name;
  switch (compression) {
    case COMPRESSION_JP2000:
      return "JPEG 2000";
    case COMPRESSION_ZSTD:
      return "Zstd";
    case COMPRESSION_WEBP:
      return "WebP";
    case COMPRESSION_LZMA:
      return "LZMA";
    case COMPRESSION_LERC:
      return "LERC";
    case COMPRESSION_JXL:
      return "JPEG XL";
    default:
      return "number " + std::to_string(compression);
  }
}

std::string check_kind(const Kind& kind, const Image& image) {
  constexpr size_t kMaxTile = size_t{1} << 26;  // bytes: 4,096 x 4,096 of four samples
  constexpr size_t kMaxSamples = 16;
  if (kind.width != image.width || kind.height != image.height)
    return "it has headers of two sizes";
  if (TIFFIsCODECConfigured(kind.compression) == 0)
    return "its compression (" + compression_name(kind.compression) + ") is not read";
  if (kind.format != SAMPLEFORMAT_UINT && kind.format != SAMPLEFORMAT_VOID)
    return "its samples are not whole numbers without a sign";
  constexpr std::array<std::uint16_t, 5> kBits{1, 2, 4, 8, 16};
  if (std::find(kBits.begin(), kBits.end(), kind.bits) == kBits.end())
    return "it has " + std::to_string(kind.bits) + " bits per sample; 1, 2, 4, 8 and 16 are read";
  if (kind.block_width == 0 || kind.block_height == 0) return "its tiles or strips have no size";
  if (kind.samples > kMaxSamples)
    return "it has " + std::to_string(kind.samples) + " samples per pixel; at most " +
           std::to_string(kMaxSamples) + " are read";
  if (kind.tiled && kind.tile_bytes() > kMaxTile)
    return "its tiles of " + std::to_string(kind.block_width) + "x" +
           std::to_string(kind.block_height) + " pixels are too large";
  return {};
}

/// Samples of a row or tile row, and the pixels that they become.
struct Span {
  const std::uint8_t* samples;
  size_t count;    ///< of pixels
  size_t stride;   ///< samples from pixel to pixel
  size_t channel;  ///< the first that is written
  size_t written;  ///< channels; one sample of grey is written to all three
};

/// Of 16 bits the upper 8. libtiff gives samples in this machine's byte order.
void put_pixels(const Kind& kind, const Span& span, std::uint8_t* to) {
  const size_t bytes = kind.bits / 8, step = span.stride * bytes;
  const size_t upper = bytes == 2 && std::endian::native == std::endian::little ? 1 : 0;
  const std::uint8_t flip = kind.photometric == PHOTOMETRIC_MINISWHITE ? 0xff : 0;
  const std::uint8_t* from = span.samples + upper;
  if (kind.grey()) {
    for (size_t x = 0; x < span.count; ++x, from += step, to += 3)
      to[0] = to[1] = to[2] = static_cast<std::uint8_t>(*from ^ flip);
  } else if (span.written == 3) {
    for (size_t x = 0; x < span.count; ++x, from += step, to += 3) {
      to[0] = from[0];
      to[1] = from[bytes];
      to[2] = from[2 * bytes];
    }
  } else {
    to += span.channel;
    for (size_t x = 0; x < span.count; ++x, from += step, to += 3) *to = *from;
  }
}

/// One plane holds all samples, or each a plane of its own.
bool read_plane(TIFF* tiff, const Kind& kind, std::uint16_t plane, Image& image) {
  const bool apart = kind.planar == PLANARCONFIG_SEPARATE;
  Span span{nullptr, kind.width, apart ? size_t{1} : kind.samples, plane, apart ? 1u : 3u};
  if (!kind.tiled) {
    const auto size = static_cast<size_t>(TIFFScanlineSize(tiff));
    if (size < kind.width * span.stride * (kind.bits / 8)) return false;
    const auto row = std::make_unique_for_overwrite<std::uint8_t[]>(size);
    span.samples = row.get();
    for (std::uint32_t y = 0; y < kind.height; ++y) {
      if (TIFFReadScanline(tiff, row.get(), y, plane) != 1) return false;
      if (is_mostly_missing(tiff, y, image)) return false;
      put_pixels(kind, span, grown_row(y, image));
    }
    return true;
  }
  const auto size = static_cast<size_t>(TIFFTileSize(tiff));
  const size_t tile_row = kind.block_width * span.stride * (kind.bits / 8);
  if (size < tile_row * kind.block_height) return false;
  const auto tile = std::make_unique_for_overwrite<std::uint8_t[]>(size);
  for (std::uint32_t top = 0; top < kind.height; top += kind.block_height)
    for (std::uint32_t left = 0; left < kind.width; left += kind.block_width) {
      if (TIFFReadTile(tiff, tile.get(), left, top, 0, plane) < 0) return false;
      if (is_mostly_missing(tiff, top, image)) return false;
      const std::uint32_t rows = std::min(kind.block_height, kind.height - top);
      span.count = std::min(kind.block_width, kind.width - left);
      for (std::uint32_t y = 0; y < rows; ++y) {
        span.samples = tile.get() + y * tile_row;
        put_pixels(kind, span, grown_row(top + y, image) + 3 * left);
      }
    }
  return true;
}

bool read_simple(TIFF* tiff, const Kind& kind, Image& image) {
  const std::uint16_t planes = kind.planar == PLANARCONFIG_SEPARATE && !kind.grey() ? 3 : 1;
  for (std::uint16_t plane = 0; plane < planes; ++plane)
    if (!read_plane(tiff, kind, plane, image)) return false;
  return true;
}

struct Rgba {
  TIFFRGBAImage state{};
  bool begun = false;
  ~Rgba() {
    if (begun) TIFFRGBAImageEnd(&state);
  }
};

/// All else (few bits, palettes, YCbCr, CMYK, Lab) by libtiff's own conversion, a row of strips or
/// tiles at a time. What is wrong goes to `message` where libtiff does not report it as an error.
bool read_converted(TIFF* tiff, const Kind& kind, Image& image, std::string& message) {
  std::array<char, 1024> text{};
  Rgba rgba;
  rgba.begun = TIFFRGBAImageBegin(&rgba.state, tiff, 1, text.data()) != 0;
  if (!rgba.begun) {
    message = "libtiff does not read " + std::to_string(kind.samples) + " samples of " +
              std::to_string(kind.bits) + " bits of this kind: " + text.data();
    return false;
  }
  rgba.state.req_orientation = ORIENTATION_TOPLEFT;
  const auto raster = std::make_unique_for_overwrite<std::uint32_t[]>(
      size_t{kind.width} * std::min(kind.block_height, kind.height));
  for (std::uint32_t top = 0; top < kind.height; top += kind.block_height) {
    const std::uint32_t rows = std::min(kind.block_height, kind.height - top);
    rgba.state.row_offset = static_cast<int>(top);
    rgba.state.col_offset = 0;
    if (TIFFRGBAImageGet(&rgba.state, raster.get(), kind.width, rows) == 0) return false;
    if (is_mostly_missing(tiff, top, image)) return false;
    for (std::uint32_t y = 0; y < rows; ++y) {
      std::uint8_t* to = grown_row(top + y, image);
      const std::uint32_t* from = raster.get() + size_t{y} * kind.width;
      for (std::uint32_t x = 0; x < kind.width; ++x, to += 3) {
        to[0] = static_cast<std::uint8_t>(TIFFGetR(from[x]));
        to[1] = static_cast<std::uint8_t>(TIFFGetG(from[x]));
        to[2] = static_cast<std::uint8_t>(TIFFGetB(from[x]));
      }
    }
  }
  return true;
}

}  // namespace

std::string decode_tiff(std::span<const std::byte> bytes, Image& image) {
  Source source{bytes};
  const TiffHandle tiff = open_tiff(source);
  const auto reason = [&source](std::string otherwise) {
    return source.error.empty() ? std::move(otherwise) : std::move(source.error);
  };
  if (!tiff) return reason("libtiff does not read it");
  const Kind kind = kind_of(tiff.get());
  if (std::string problem = check_kind(kind, image); !problem.empty()) return problem;
  source.error.clear();  // of fields that do not matter
  TIFFSetField(tiff.get(), TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);  // as stored
  std::string message;
  const bool whole = kind.simple() ? read_simple(tiff.get(), kind, image)
                                   : read_converted(tiff.get(), kind, image, message);
  if (!whole) return reason(message.empty() ? "its data is damaged" : message);
  image.damage = source.error.empty() ? source.warning : source.error;
  return {};
}

}  // namespace vit::patch
