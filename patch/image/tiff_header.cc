#include <algorithm>
#include <array>
#include <cstdint>

#include "patch/image/byte_reader.h"
#include "patch/image/image_header.h"

namespace vit::patch {
namespace {

enum Tag : std::uint32_t {
  kSubfileType = 254,
  kWidth = 256,
  kHeight = 257,
  kBitsPerSample = 258,
  kCompression = 259,
  kPhotometric = 262,
  kStripOffsets = 273,
  kOrientation = 274,
  kStripLengths = 279,
  kTileOffsets = 324,
  kTileLengths = 325,
  kSubDirectories = 330,
};

/// Bytes of a value of each field type; 0: no such type.
constexpr std::array<size_t, 13> kTypeSizes{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};

ByteOrder order_of(std::span<const std::byte> bytes) {
  const bool little = !bytes.empty() && bytes[0] == std::byte{'I'};
  return little ? ByteOrder::kLittle : ByteOrder::kBig;
}

/// A field of a directory: `count` whole numbers of 2 or 4 bytes from `at` on.
struct Field {
  size_t at = 0;
  size_t count = 0;
  bool wide = false;
};

class Directory {
 public:
  explicit Directory(std::span<const std::byte> tiff) : reader_(tiff, order_of(tiff)) {
    start_ = reader_.u32(4);
    entries_ = reader_.u16(start_);
  }

  const ByteReader& reader() const { return reader_; }

  /// Whether all entries are in the file, and all values that lie elsewhere in it.
  bool complete() const {
    if (entries_ == 0 || !reader_.has(start_, 2 + 12 * entries_)) return false;
    for (size_t i = 0; i < entries_; ++i) {
      const size_t entry = start_ + 2 + 12 * i, type = reader_.u16(entry + 2);
      const size_t size =
          (type < kTypeSizes.size() ? kTypeSizes[type] : 0) * reader_.u32(entry + 4);
      if (size > 4 && !reader_.has(reader_.u32(entry + 8), size)) return false;
    }
    return true;
  }

  Field find(Tag tag) const {
    for (size_t i = 0; i < entries_; ++i) {
      const size_t entry = start_ + 2 + 12 * i;
      if (!reader_.has(entry, 12)) break;
      const std::uint32_t type = reader_.u16(entry + 2);
      if (reader_.u16(entry) != tag || (type != kShort && type != kLong)) continue;
      Field field{entry + 8, reader_.u32(entry + 4), type == kLong};
      if (field.count * (field.wide ? 4 : 2) > 4) field.at = reader_.u32(entry + 8);
      return field;
    }
    return {};
  }

  std::uint32_t value(const Field& field, size_t index) const {
    return field.wide ? reader_.u32(field.at + 4 * index) : reader_.u16(field.at + 2 * index);
  }

  std::uint32_t first(Tag tag, std::uint32_t otherwise) const {
    const Field field = find(tag);
    return field.count == 0 ? otherwise : value(field, 0);
  }

 private:
  static constexpr std::uint32_t kShort = 3, kLong = 4;

  ByteReader reader_;
  size_t start_ = 0;
  size_t entries_ = 0;
};

int orientation_of(const Directory& directory) {
  const std::uint32_t orientation = directory.first(kOrientation, 1);
  return orientation >= 1 && orientation <= 8 ? static_cast<int>(orientation) : 1;
}

/// Cameras store what their sensor saw in a kind of TIFF. Its first image is a thumbnail, or one of
/// no colours.
bool is_raw(const Directory& directory) {
  constexpr std::uint32_t kColourFilter = 32803, kLinearRaw = 34892;
  const std::uint32_t photometric = directory.first(kPhotometric, 0);
  const bool thumbnail = (directory.first(kSubfileType, 0) & 1) != 0;
  return directory.reader().says(8, "CR\2") || photometric == kColourFilter ||
         photometric == kLinearRaw || (thumbnail && directory.find(kSubDirectories).count != 0);
}

/// Bytes of all strips, or of all tiles; 0 if one of them lies outside of the file.
size_t data_bytes(const Directory& directory, Tag offsets_tag, Tag lengths_tag) {
  const Field offsets = directory.find(offsets_tag), lengths = directory.find(lengths_tag);
  if (offsets.count == 0 || !directory.reader().has(offsets.at, offsets.count * 2)) return 0;
  const size_t unknown = directory.reader().size();  // the lengths may be left out
  size_t sum = 0;
  for (size_t i = 0; i < offsets.count; ++i) {
    const size_t offset = directory.value(offsets, i);
    const size_t length = i < lengths.count ? directory.value(lengths, i) : 1;
    if (!directory.reader().has(offset, length)) return 0;
    sum += i < lengths.count && length != 0 ? length : unknown;
  }
  return std::min(sum, directory.reader().size());
}

/// How many pixels a byte can hold at best.
size_t most_pixels_per_byte(std::uint32_t compression, std::uint32_t bits) {
  const size_t per_value = bits < 8 ? 8 : 1;
  switch (compression) {
    case 1:
      return per_value;
    case 32773:  // PackBits: 128 bytes for two
      return 64 * per_value;
    case 5:  // LZW: 4,096 bytes for twelve bits, reached by and by
    case 8:  // deflate
    case 32946:
      return 2000 * per_value;
    case 7:  // JPEG: two bits for a block
      return 256;
    default:  // fax codes take a bit for a row: what is refused by this is large and empty
      return 65536;
  }
}

}  // namespace

int exif_orientation(std::span<const std::byte> exif) {
  constexpr size_t kPrefix = 6;
  while (ByteReader(exif, ByteOrder::kBig).says(0, {"Exif\0\0", kPrefix}))
    exif = exif.subspan(kPrefix);
  const ByteReader reader(exif, ByteOrder::kBig);
  const bool known = reader.says(0, {"II*\0", 4}) || reader.says(0, {"MM\0*", 4});
  return known ? orientation_of(Directory(exif)) : 1;
}

ImageHeader read_tiff_header(std::span<const std::byte> bytes) {
  const Directory directory(bytes);
  ImageHeader header{.format = FileFormat::kTiff};
  header.exif = bytes;
  header.width = directory.first(kWidth, 0);
  header.height = directory.first(kHeight, 0);
  header.orientation = orientation_of(directory);
  const size_t data = std::max(data_bytes(directory, kStripOffsets, kStripLengths),
                               data_bytes(directory, kTileOffsets, kTileLengths));
  header.complete = directory.complete() && data != 0;
  const std::uint32_t bits = directory.first(kBitsPerSample, 1);
  header.most_pixels = data * most_pixels_per_byte(directory.first(kCompression, 1), bits);
  if (is_raw(directory))
    header.problem = "it is a camera's raw file; develop it: darktable-cli FILE out.jpg";
  else if (bits > 16)
    header.problem = "it has " + std::to_string(bits) + " bits per sample; at most 16 are read";
  return header;
}

}  // namespace vit::patch
