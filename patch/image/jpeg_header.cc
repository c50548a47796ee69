#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "patch/image/byte_reader.h"
#include "patch/image/image_header.h"

namespace vit::patch {
namespace {

constexpr std::uint32_t kEnd = 0xd9, kScan = 0xda, kApp1 = 0xe1;

bool is_frame(std::uint32_t marker) {  // SOF0 to SOF15, without the tables that lie between them
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

bool stands_alone(std::uint32_t marker) {  // restart markers, start, TEM: no length follows
  return (marker >= 0xd0 && marker <= 0xd8) || marker == 0x01;
}

/// The next 0xff from `at` on that is followed by a marker; the size of the file if none is. In the
/// data of a scan 0xff 0x00 is a value; restart markers and those that have no meaning do not end
/// it. `restarts` counts the former.
size_t find_marker(const ByteReader& reader, size_t at, bool in_scan, size_t& restarts) {
  while (reader.has(at, 2)) {
    const auto rest = reader.part(at, reader.size());
    const void* found = std::memchr(rest.data(), 0xff, rest.size() - 1);
    if (found == nullptr) break;
    at += static_cast<size_t>(static_cast<const std::byte*>(found) - rest.data());
    const std::uint32_t marker = reader.u8(at + 1);
    const bool data =
        marker == 0x00 || (in_scan && (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd7)));
    if (!data && marker != 0xff) return at;
    if (marker >= 0xd0 && marker <= 0xd7) ++restarts;
    at += data ? 2 : 1;
  }
  return reader.size();
}

/// Blocks of 8 x 8 values, the unit of work: of each component, and as often as scans visit them.
class Blocks {
 public:
  void set_frame(const ByteReader& reader, size_t at, const ImageHeader& header) {
    const size_t count = std::min<size_t>(reader.u8(at + 7), components_.size());
    size_t most_across = 1, most_down = 1;
    for (size_t i = 0; i < count; ++i) {
      const std::uint32_t sampling = reader.u8(at + 9 + 3 * i);
      components_[i] = {reader.u8(at + 8 + 3 * i), sampling >> 4, sampling & 15, 0};
      most_across = std::max<size_t>(most_across, sampling >> 4);
      most_down = std::max<size_t>(most_down, sampling & 15);
    }
    in_all_ = 0;
    for (Component& part : components_) {
      part.blocks = (header.width * part.across + 8 * most_across - 1) / (8 * most_across) *
                    ((header.height * part.down + 8 * most_down - 1) / (8 * most_down));
      in_all_ += part.blocks;
    }
  }

  void add_scan(const ByteReader& reader, size_t at) {
    ++scans_;
    const size_t count = std::min<size_t>(reader.u8(at + 2), components_.size());
    for (size_t i = 0; i < count; ++i)
      for (const Component& part : components_)
        if (part.blocks != 0 && part.id == reader.u8(at + 3 + 2 * i)) visits_ += part.blocks;
  }

  size_t in_all() const { return in_all_; }
  size_t visits() const { return visits_; }
  size_t scans() const { return scans_; }

 private:
  struct Component {
    std::uint32_t id = 0, across = 0, down = 0;
    size_t blocks = 0;
  };

  std::array<Component, 4> components_{};
  size_t in_all_ = 0, visits_ = 0, scans_ = 0;
};

/// Progressive files have some ten scans. Each makes the decoder go through the whole image, even
/// if a few bytes say that nothing changes.
constexpr size_t kMaxScans = 100;
constexpr size_t kFreeVisits = 4'000'000;  // below 0.1 s of work
constexpr size_t kVisitsPerByte = 64;      // a flat image in ten scans takes 30

/// `bytes` are those within scans: a file may have any number of others.
void judge(const Blocks& blocks, bool arithmetic, size_t bytes, ImageHeader& header) {
  // Huffman codes have at least one bit, and each block at least one code.
  const size_t most_blocks = bytes * 8 * (arithmetic ? 64 : 1);
  if (arithmetic && bytes == 0)  // libjpeg would decode the zeros that it takes for missing data
    header.problem = "it holds no image data";
  else if (blocks.scans() > kMaxScans)
    header.problem = "it has " + std::to_string(blocks.scans()) + " scans; at most " +
                     std::to_string(kMaxScans) + " are read";
  else if (blocks.in_all() > most_blocks)
    header.most_pixels = header.width * header.height / blocks.in_all() * most_blocks;
  else if (blocks.scans() > 1 && blocks.visits() > kFreeVisits + bytes * kVisitsPerByte)
    header.problem = "its " + std::to_string(blocks.scans()) +
                     " scans are empty: they cover the image more often than " +
                     std::to_string(bytes) + " bytes of data can change it";
}

}  // namespace

ImageHeader read_jpeg_header(std::span<const std::byte> bytes) {
  const ByteReader reader(bytes, ByteOrder::kBig);
  ImageHeader header{.format = FileFormat::kJpeg};
  Blocks blocks;
  bool in_scan = false, oriented = false, arithmetic = false;
  size_t data = 0;
  for (size_t from = 2;;) {
    size_t restarts = 0;
    size_t at = find_marker(reader, from, in_scan, restarts);
    if (in_scan && at > from) data += at - from - std::min(2 * restarts, at - from);
    if (at >= reader.size()) break;
    const std::uint32_t marker = reader.u8(at + 1);
    at += 2;
    if (marker == kEnd) {
      header.complete = true;
      break;
    }
    in_scan = marker == kScan;
    from = at;
    if (stands_alone(marker)) continue;
    const size_t length = reader.u16(at);
    if (is_frame(marker) && reader.has(at, 8)) {
      header.height = reader.u16(at + 3);
      header.width = reader.u16(at + 5);
      arithmetic = marker >= 0xc9;
      blocks.set_frame(reader, at, header);
    } else if (in_scan) {
      blocks.add_scan(reader, at);
    } else if (marker == kApp1 && !oriented && reader.says(at + 2, {"Exif\0\0", 6})) {
      header.exif = reader.part(at + 8, length < 8 ? 0 : length - 8);
      header.orientation = exif_orientation(header.exif);
      oriented = true;
    }
    from += length;
  }
  judge(blocks, arithmetic, data, header);
  return header;
}

}  // namespace vit::patch
