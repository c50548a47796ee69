#include <tiffio.h>

#include <array>
#include <bit>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "patch/image/codecs/library_decoders.h"
#include "patch/image/codecs/tiff_kind.h"

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

/// The file is in memory already; nothing is read.
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

/// libtiff would read the bytes behind the pixels as if they were pixels.
bool is_about_lengths(std::string_view format) {
  return format.starts_with("Bogus \"StripByteCounts\"") ||
         format.starts_with("Wrong \"StripByteCounts\"");
}

/// Some codecs only warn about damage and continue. Other warnings concern fields that do not
/// matter and are ignored.
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

/// Samples of a row or tile row, and the pixels that they become.
struct Span {
  const std::uint8_t* samples;
  size_t count;    ///< of pixels
  size_t stride;   ///< samples from pixel to pixel
  size_t channel;  ///< the first that is written
  size_t written;  ///< channels; one sample of grey is written to all three
};

/// Of 16 bits the upper 8. libtiff gives samples in this machine's byte order.
void put_pixels(const TiffKind& kind, const Span& span, std::uint8_t* to) {
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
bool read_plane(TIFF* tiff, const TiffKind& kind, std::uint16_t plane, Image& image) {
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

bool read_simple(TIFF* tiff, const TiffKind& kind, Image& image) {
  const std::uint16_t planes = kind.planar == PLANARCONFIG_SEPARATE && !kind.grey() ? 3 : 1;
  for (std::uint16_t plane = 0; plane < planes; ++plane)
    if (!read_plane(tiff, kind, plane, image)) return false;
  return true;
}

/// The pixels of every byte that holds 8 / bits of them.
class ByteColours {
 public:
  ByteColours(TIFF* tiff, const TiffKind& kind) : per_byte_(8 / kind.bits) {
    const size_t count = size_t{1} << kind.bits;
    std::uint16_t *red = nullptr, *green = nullptr, *blue = nullptr;
    const bool palette = kind.photometric == PHOTOMETRIC_PALETTE;
    if (palette && TIFFGetField(tiff, TIFFTAG_COLORMAP, &red, &green, &blue) == 0) return;
    known_ = true;
    // Some programs store eight bits of a colour where sixteen belong.
    const auto is_wide = [&](const std::uint16_t* part) {
      return std::any_of(part, part + count, [](std::uint16_t level) { return level > 255; });
    };
    const bool wide = palette && (is_wide(red) || is_wide(green) || is_wide(blue));
    for (size_t byte = 0; byte < 256; ++byte)
      for (size_t i = 0; i < per_byte_; ++i) {
        const size_t index = byte >> (8 - kind.bits * (i + 1)) & (count - 1);
        const size_t level = kind.photometric == PHOTOMETRIC_MINISWHITE ? count - 1 - index : index;
        const size_t grey = level * 255 / (count - 1);
        const std::array<size_t, 3> colour =
            palette ? std::array<size_t, 3>{red[index], green[index], blue[index]}
                    : std::array<size_t, 3>{grey, grey, grey};
        for (size_t c = 0; c < 3; ++c)
          table_[byte][3 * i + c] = static_cast<std::uint8_t>(wide ? colour[c] >> 8 : colour[c]);
      }
  }

  bool known() const { return known_; }

  void put_row(const std::uint8_t* from, size_t width, std::uint8_t* to) const {
    const size_t whole = width / per_byte_, rest = width % per_byte_;
    for (size_t i = 0; i < whole; ++i, to += 3 * per_byte_)
      std::copy_n(table_[from[i]].data(), 3 * per_byte_, to);
    if (rest != 0) std::copy_n(table_[from[whole]].data(), 3 * rest, to);
  }

 private:
  size_t per_byte_;
  bool known_ = false;
  std::array<std::array<std::uint8_t, 24>, 256> table_{};
};

/// Row by row: libtiff's own conversion takes four bytes for each pixel of a strip, and fax pages
/// often have one strip.
bool read_few_bits(TIFF* tiff, const TiffKind& kind, Image& image) {
  const ByteColours colours(tiff, kind);
  const auto size = static_cast<size_t>(TIFFScanlineSize(tiff));
  if (!colours.known() || size < (size_t{kind.width} * kind.bits + 7) / 8) return false;
  const auto row = std::make_unique_for_overwrite<std::uint8_t[]>(size);
  for (std::uint32_t y = 0; y < kind.height; ++y) {
    if (TIFFReadScanline(tiff, row.get(), y, 0) != 1) return false;
    if (is_mostly_missing(tiff, y, image)) return false;
    colours.put_row(row.get(), kind.width, grown_row(y, image));
  }
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
bool read_converted(TIFF* tiff, const TiffKind& kind, Image& image, std::string& message) {
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
  const TiffKind kind = tiff_kind_of(tiff.get());
  if (std::string problem = check_tiff_kind(kind, image); !problem.empty()) return problem;
  source.error.clear();  // of fields that do not matter
  TIFFSetField(tiff.get(), TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);  // as stored
  std::string message;
  const bool whole = kind.simple()     ? read_simple(tiff.get(), kind, image)
                     : kind.few_bits() ? read_few_bits(tiff.get(), kind, image)
                                       : read_converted(tiff.get(), kind, image, message);
  if (!whole) return reason(message.empty() ? "its data is damaged" : message);
  image.damage = source.error.empty() ? source.warning : source.error;
  return {};
}

}  // namespace vit::patch
