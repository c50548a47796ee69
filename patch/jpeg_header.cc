#include <cstdint>
#include <cstring>

#include "patch/byte_reader.h"
#include "patch/image_header.h"

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
/// data of a scan 0xff 0x00 is a value and restart markers do not end it.
size_t find_marker(const ByteReader& reader, size_t at, bool in_scan) {
  while (reader.has(at, 2)) {
    const auto rest = reader.part(at, reader.size());
    const void* found = std::memchr(rest.data(), 0xff, rest.size() - 1);
    if (found == nullptr) break;
    at += static_cast<size_t>(static_cast<const std::byte*>(found) - rest.data());
    const std::uint32_t marker = reader.u8(at + 1);
    const bool data = marker == 0x00 || (in_scan && marker >= 0xd0 && marker <= 0xd7);
    if (!data && marker != 0xff) return at;
    at += data ? 2 : 1;
  }
  return reader.size();
}

}  // namespace

ImageHeader read_jpeg_header(std::span<const std::byte> bytes) {
  const ByteReader reader(bytes, ByteOrder::kBig);
  ImageHeader header{.format = FileFormat::kJpeg};
  bool in_scan = false, oriented = false;
  for (size_t at = find_marker(reader, 2, false); at < reader.size();
       at = find_marker(reader, at, in_scan)) {
    const std::uint32_t marker = reader.u8(at + 1);
    at += 2;
    if (marker == kEnd) {
      header.complete = true;
      break;
    }
    in_scan = marker == kScan;
    if (stands_alone(marker)) continue;
    const size_t length = reader.u16(at);
    if (is_frame(marker) && reader.has(at, 8)) {
      header.height = reader.u16(at + 3);
      header.width = reader.u16(at + 5);
    } else if (marker == kApp1 && !oriented && reader.says(at + 2, {"Exif\0\0", 6})) {
      header.orientation = exif_orientation(reader.part(at + 8, length < 8 ? 0 : length - 8));
      oriented = true;
    }
    at += length;
  }
  return header;
}

}  // namespace vit::patch
