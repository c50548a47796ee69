#include <array>
#include <cstdint>

#include "patch/byte_reader.h"
#include "patch/image_header.h"

namespace vit::patch {
namespace {

enum Tag : std::uint32_t {
  kWidth = 256,
  kHeight = 257,
  kBitsPerSample = 258,
  kPhotometric = 262,
  kStripOffsets = 273,
  kOrientation = 274,
  kSamplesPerPixel = 277,
  kStripLengths = 279,
  kTileOffsets = 324,
  kTileLengths = 325,
  kExtraSamples = 338,
};

constexpr std::uint32_t kRgb = 2;              // photometric interpretation
constexpr std::uint32_t kMultipliedAlpha = 1;  // extra samples
constexpr std::uint32_t kStraightAlpha = 2;

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

/// Whether all strips, or all tiles, lie within the file.
bool has_data(const Directory& directory, Tag offsets_tag, Tag lengths_tag) {
  const Field offsets = directory.find(offsets_tag), lengths = directory.find(lengths_tag);
  if (offsets.count == 0 || !directory.reader().has(offsets.at, offsets.count * 2)) return false;
  for (size_t i = 0; i < offsets.count; ++i) {
    const size_t length = i < lengths.count ? directory.value(lengths, i) : 1;
    if (!directory.reader().has(directory.value(offsets, i), length)) return false;
  }
  return true;
}

}  // namespace

int exif_orientation(std::span<const std::byte> exif) {
  const ByteReader reader(exif, ByteOrder::kBig);
  if (reader.says(0, {"Exif\0\0", 6})) return exif_orientation(exif.subspan(6));
  const bool known = reader.says(0, {"II*\0", 4}) || reader.says(0, {"MM\0*", 4});
  return known ? orientation_of(Directory(exif)) : 1;
}

ImageHeader read_tiff_header(std::span<const std::byte> bytes) {
  const Directory directory(bytes);
  ImageHeader header{.format = FileFormat::kTiff};
  header.width = directory.first(kWidth, 0);
  header.height = directory.first(kHeight, 0);
  header.orientation = orientation_of(directory);
  header.complete = directory.complete() && (has_data(directory, kStripOffsets, kStripLengths) ||
                                             has_data(directory, kTileOffsets, kTileLengths));
  const Field extra = directory.find(kExtraSamples);
  if (directory.first(kPhotometric, 0) == kRgb && directory.first(kSamplesPerPixel, 1) == 4 &&
      extra.count == 1 && directory.value(extra, 0) == kStraightAlpha && !extra.wide)
    header.straight_alpha = extra.at;
  const std::uint32_t bits = directory.first(kBitsPerSample, 1);
  header.deep = bits == 16;
  if (bits > 16)
    header.problem = "it has " + std::to_string(bits) + " bits per sample; at most 16 are read";
  return header;
}

std::vector<std::byte> unmultiplied_tiff(std::span<const std::byte> bytes,
                                         const ImageHeader& header) {
  std::vector<std::byte> patched(bytes.begin(), bytes.end());
  const size_t low = header.straight_alpha + (order_of(bytes) == ByteOrder::kBig ? 1 : 0);
  patched[low] = static_cast<std::byte>(kMultipliedAlpha);
  return patched;
}

}  // namespace vit::patch
