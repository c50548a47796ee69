// BMP, read strictly: what is not described here is refused.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <string>
#include <vector>

#include "patch/image/byte_reader.h"
#include "patch/image/image_header.h"
#include "patch/image/pixel_decoders.h"

namespace vit::patch {
namespace {

constexpr size_t kFileHeader = 14, kOldHeader = 12, kUsualHeader = 40, kOs2Header = 64;

enum Compression : std::uint32_t { kPlain = 0, kRle8 = 1, kRle4 = 2, kMasks = 3 };

using Colour = std::array<std::uint8_t, 3>;

struct Layout {
  size_t width = 0, height = 0;
  bool downwards = false;  ///< the first row is the upper one
  size_t bits = 0;
  std::uint32_t compression = kPlain;
  size_t data = 0;                       ///< where the pixels start
  std::vector<Colour> palette{};         ///< red first
  std::array<std::uint32_t, 3> masks{};  ///< of red, green and blue
  std::string problem{};

  size_t row_bytes() const { return (width * bits + 31) / 32 * 4; }
  bool runs() const { return compression == kRle8 || compression == kRle4; }
};

std::string name_of(std::uint32_t compression, size_t header) {
  if (header == kOs2Header && compression == 3) return "Huffman";
  if (header == kOs2Header && compression == 4) return "RLE24";
  switch (compression) {
    case kRle8:
      return "RLE8";
    case kRle4:
      return "RLE4";
    case kMasks:
      return "bit masks";
    case 4:
      return "JPEG";
    case 5:
      return "PNG";
    case 6:
      return "bit masks with alpha";
    case 11:
    case 12:
    case 13:
      return "CMYK";
    default:
      return "number " + std::to_string(compression);
  }
}

bool is_known(const Layout& layout, size_t header) {
  switch (layout.compression) {
    case kPlain:
      return true;
    case kRle8:
      return layout.bits == 8 && !layout.downwards;
    case kRle4:
      return layout.bits == 4 && !layout.downwards;
    case kMasks:
      return header != kOs2Header && (layout.bits == 16 || layout.bits == 32);
    default:
      return false;
  }
}

void read_palette(const ByteReader& reader, size_t header, Layout& layout) {
  const size_t entry = header == kOldHeader ? 3 : 4, at = kFileHeader + header;
  const size_t used = header == kOldHeader ? 0 : reader.u32(46), most = size_t{1} << layout.bits;
  size_t count = used == 0 || used > most ? most : used;
  count = std::min(count, (layout.data - at) / entry);
  for (size_t i = 0; i < count; ++i) {
    const auto part = [&](size_t byte) {
      return static_cast<std::uint8_t>(reader.u8(at + i * entry + byte));
    };
    layout.palette.push_back({part(2), part(1), part(0)});
  }
}

void read_masks(const ByteReader& reader, Layout& layout) {
  if (layout.compression == kMasks)
    layout.masks = {reader.u32(54), reader.u32(58), reader.u32(62)};
  else if (layout.bits == 16)
    layout.masks = {0x7c00, 0x3e0, 0x1f};
  else
    layout.masks = {0xff0000, 0xff00, 0xff};
  for (const std::uint32_t mask : layout.masks) {
    const std::uint32_t low = mask >> (mask == 0 ? 0 : std::countr_zero(mask));
    if (mask == 0 || (low & (low + 1)) != 0) layout.problem = "its bit masks are not runs of bits";
  }
}

Layout read_layout(const ByteReader& reader) {
  Layout layout;
  const size_t header = reader.u32(kFileHeader);
  const bool old = header == kOldHeader;
  if (!old && header < kUsualHeader) {
    layout.problem = "its header of " + std::to_string(header) + " bytes is of no known kind";
    return layout;
  }
  const auto height = static_cast<std::int32_t>(reader.u32(22));
  layout.width = old ? reader.u16(18) : reader.u32(18);
  layout.height = old ? reader.u16(20) : static_cast<size_t>(std::abs(std::int64_t{height}));
  layout.downwards = !old && height < 0;
  layout.bits = old ? reader.u16(24) : reader.u16(28);
  layout.compression = old ? kPlain : reader.u32(30);
  layout.data = reader.u32(10);
  constexpr std::array<size_t, 6> kBits{1, 4, 8, 16, 24, 32};
  if (std::find(kBits.begin(), kBits.end(), layout.bits) == kBits.end())
    layout.problem = "it has " + std::to_string(layout.bits) +
                     " bits per pixel; 1, 4, 8, 16, 24 and 32 are read";
  else if (!is_known(layout, header))
    layout.problem = "its compression (" + name_of(layout.compression, header) + ") with " +
                     std::to_string(layout.bits) + " bits per pixel is not read";
  else if (layout.data < kFileHeader + header)
    layout.problem = "its pixels start at byte " + std::to_string(layout.data) + ", in its header";
  else if (layout.bits <= 8)
    read_palette(reader, header, layout);
  else
    read_masks(reader, layout);
  return layout;
}

/// A field of a pixel as eight bits. Fields of up to eight bits of 16-bit pixels are shifted up, as
/// OpenCV does it; others are scaled.
struct FieldReader {
  explicit FieldReader(std::uint32_t mask, size_t bits)
      : mask_(mask), shift_(std::countr_zero(mask)) {
    const int width = std::popcount(mask);
    up_ = bits == 16 && width <= 8 ? 8 - width : 0;
    scale_ = bits == 16 && width <= 8 ? 1.0f : 255.0f / static_cast<float>(mask >> shift_);
  }
  std::uint8_t operator()(std::uint32_t pixel) const {
    const std::uint32_t value = (pixel & mask_) >> shift_ << up_;
    return static_cast<std::uint8_t>(static_cast<float>(value) * scale_);
  }

 private:
  std::uint32_t mask_;
  int shift_, up_ = 0;
  float scale_ = 1.0f;
};

void read_masked_row(const Layout& layout, const std::uint8_t* from, std::uint8_t* to) {
  const std::array<FieldReader, 3> fields{FieldReader(layout.masks[0], layout.bits),
                                          FieldReader(layout.masks[1], layout.bits),
                                          FieldReader(layout.masks[2], layout.bits)};
  const size_t bytes = layout.bits / 8;
  for (size_t x = 0; x < layout.width; ++x, from += bytes) {
    std::uint32_t pixel = 0;
    for (size_t i = 0; i < bytes; ++i) pixel |= std::uint32_t{from[i]} << 8 * i;
    for (const FieldReader& field : fields) *to++ = field(pixel);
  }
}

/// Blue first, as nearly all files have it.
template <size_t bytes>
void read_true_colour_row(const std::uint8_t* from, size_t width, std::uint8_t* to) {
  for (size_t x = 0; x < width; ++x, from += bytes, to += 3) {
    const std::uint8_t blue = from[0], green = from[1], red = from[2];
    to[0] = red;
    to[1] = green;
    to[2] = blue;
  }
}

/// False if a pixel has no colour.
bool read_byte_row(const Layout& layout, const std::uint8_t* from, std::uint8_t* to) {
  std::uint8_t last = 0;
  for (size_t x = 0; x < layout.width; ++x) last = std::max(last, from[x]);
  if (last >= layout.palette.size()) return false;
  const Colour* palette = layout.palette.data();
  for (size_t x = 0; x < layout.width; ++x, to += 3) {
    const Colour colour = palette[from[x]];
    to[0] = colour[0];
    to[1] = colour[1];
    to[2] = colour[2];
  }
  return true;
}

bool read_palette_row(const Layout& layout, const std::uint8_t* from, std::uint8_t* to) {
  const size_t per_byte = 8 / layout.bits, mask = (size_t{1} << layout.bits) - 1;
  for (size_t x = 0; x < layout.width; ++x, to += 3) {
    const size_t shift = 8 - layout.bits * (x % per_byte + 1);
    const size_t index = from[x / per_byte] >> shift & mask;
    if (index >= layout.palette.size()) return false;
    std::copy_n(layout.palette[index].data(), 3, to);
  }
  return true;
}

constexpr const char* kNoColour = "some pixels have colours beyond its palette";

std::string read_plain(const Layout& layout, const std::uint8_t* data, Image& image) {
  const bool blue_first = layout.masks == std::array<std::uint32_t, 3>{0xff0000, 0xff00, 0xff};
  for (size_t y = 0; y < layout.height; ++y) {
    const size_t stored = layout.downwards ? y : layout.height - 1 - y;
    const std::uint8_t* from = data + stored * layout.row_bytes();
    std::uint8_t* row = grown_row(y, image);
    if (layout.bits <= 8) {
      const auto read = layout.bits == 8 ? read_byte_row : read_palette_row;
      if (!read(layout, from, row)) return kNoColour;
    } else if (layout.bits == 24) {
      read_true_colour_row<3>(from, layout.width, row);
    } else if (layout.bits == 32 && blue_first) {
      read_true_colour_row<4>(from, layout.width, row);
    } else {
      read_masked_row(layout, from, row);
    }
  }
  return {};
}

/// Run lengths, upwards from the last row: decoded as if downwards, and mirrored at the end.
class RunReader {
 public:
  RunReader(const Layout& layout, std::span<const std::byte> data, Image& image)
      : layout_(layout), bytes_(data, ByteOrder::kLittle), image_(image) {}

  std::string read() {
    if (layout_.palette.empty()) return kNoColour;
    while (problem_.empty() && !ended_ && bytes_.has(at_, 2)) read_code();
    if (!problem_.empty()) return problem_;
    if (written_ == 0) return "its data is empty";
    const size_t all = image_.width * image_.height;
    if (written_ < all - written_) return "most of its pixels are missing";
    while (y_ < image_.height) end_row();
    if (written_ < all)
      image_.damage = std::to_string(100 * (all - written_) / all) + " % of the pixels are missing";
    for (size_t y = 0; y < image_.height / 2; ++y)
      std::swap_ranges(image_.row(y), image_.row(y) + image_.width * 3,
                       image_.row(image_.height - 1 - y));
    return {};
  }

 private:
  void read_code() {
    const std::uint32_t count = bytes_.u8(at_), value = bytes_.u8(at_ + 1);
    at_ += 2;
    if (count != 0) return put(count, [&](size_t i) { return index_in(value, i); });
    if (value == 0) return end_row();
    if (value == 1) {
      ended_ = true;
    } else if (value == 2) {
      skip(bytes_.u8(at_), bytes_.u8(at_ + 1));
      at_ += 2;
    } else {
      const bool nibbles = layout_.bits == 4;
      const size_t length = nibbles ? (value + 1) / 2 : value;
      if (!bytes_.has(at_, length)) return end_of_data();
      put(value, [&](size_t i) {
        return nibbles ? index_in(bytes_.u8(at_ + i / 2), i) : bytes_.u8(at_ + i);
      });
      at_ += length + length % 2;
    }
  }

  /// Two pixels of four bits share a byte, the left one is the upper half.
  std::uint32_t index_in(std::uint32_t value, size_t i) const {
    if (layout_.bits == 8) return value;
    return i % 2 == 0 ? value >> 4 : value & 15;
  }

  template <typename Index>
  void put(size_t count, const Index& index) {
    if (y_ >= image_.height || count > image_.width - x_) {
      problem_ = "a run of pixels leaves the image";
      return;
    }
    std::uint8_t* to = begun_row() + 3 * x_;
    for (size_t i = 0; i < count; ++i, to += 3) {
      const size_t colour = index(i);
      if (colour >= layout_.palette.size()) {
        problem_ = kNoColour;
        return;
      }
      std::copy_n(layout_.palette[colour].data(), 3, to);
    }
    x_ += count;
    written_ += count;
  }

  /// The row that is being written; what is never written has the first colour.
  std::uint8_t* begun_row() {
    for (; filled_ <= y_; ++filled_) {
      std::uint8_t* row = grown_row(filled_, image_);
      for (size_t x = 0; x < image_.width; ++x)
        std::copy_n(layout_.palette[0].data(), 3, row + 3 * x);
    }
    return image_.row(y_);
  }

  void end_row() {
    if (y_ < image_.height) begun_row();
    x_ = 0;
    ++y_;
  }

  void skip(size_t right, size_t up) {
    for (; up > 0 && y_ < image_.height; --up) {
      const size_t x = x_;
      end_row();
      x_ = x;
    }
    x_ = std::min(x_ + right, image_.width);
  }

  void end_of_data() { ended_ = true; }

  const Layout& layout_;
  ByteReader bytes_;
  Image& image_;
  size_t at_ = 0, x_ = 0, y_ = 0, filled_ = 0, written_ = 0;
  bool ended_ = false;
  std::string problem_;
};

}  // namespace

ImageHeader read_bmp_header(std::span<const std::byte> bytes) {
  const ByteReader reader(bytes, ByteOrder::kLittle);
  const Layout layout = read_layout(reader);
  ImageHeader header{.format = FileFormat::kBmp};
  header.width = layout.width;
  header.height = layout.height;
  const bool described = reader.has(0, std::max(layout.data, kFileHeader + kOldHeader));
  constexpr size_t kLargest = size_t{1} << 24;  // beyond it the size itself is the problem
  const bool fits = layout.width <= kLargest && layout.height <= kLargest;
  const size_t needed = layout.runs() || !fits ? 1 : layout.row_bytes() * layout.height;
  header.complete = described && reader.has(layout.data, std::max<size_t>(needed, 1));
  // A run takes two bytes for 255 pixels.
  if (layout.runs() && described) header.most_pixels = (reader.size() - layout.data) * 128;
  if (described) header.problem = layout.problem;
  return header;
}

std::string decode_bmp(std::span<const std::byte> bytes, Image& image) {
  const Layout layout = read_layout(ByteReader(bytes, ByteOrder::kLittle));
  const auto data = bytes.subspan(layout.data);
  if (layout.runs()) return RunReader(layout, data, image).read();
  return read_plain(layout, reinterpret_cast<const std::uint8_t*>(data.data()), image);
}

}  // namespace vit::patch
