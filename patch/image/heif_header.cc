// HEIC and AVIF: boxes of ISO/IEC 14496-12, in them the items of ISO/IEC 23008-12.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "patch/image/byte_reader.h"
#include "patch/image/image_header.h"

namespace vit::patch {
namespace {

using Bytes = std::span<const std::byte>;

constexpr size_t kMostPixelsPerByte = 65536;  // as of WebP
constexpr size_t kMostProperties = 1 << 15;   // an index of them has 15 bits

/// A box within `bytes`. Each takes eight bytes at least, so that a walk ends.
struct Box {
  std::uint32_t type = 0;
  Bytes content{};
  size_t length = 0;
  bool whole = false;  ///< it ends within the bytes
};

constexpr std::uint32_t code(std::string_view four) {
  std::uint32_t value = 0;
  for (const char c : four) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

std::optional<Box> next_box(Bytes bytes) {
  const ByteReader reader(bytes, ByteOrder::kBig);
  if (!reader.has(0, 8)) return std::nullopt;
  std::uint64_t head = 8, length = reader.u32(0);
  if (length == 1) {
    head = 16;
    length = std::uint64_t{reader.u32(8)} << 32 | reader.u32(12);
  } else if (length == 0) {
    length = bytes.size();  // the last box may leave its length open
  }
  if (length < head) return std::nullopt;
  const bool whole = length <= bytes.size();
  const size_t taken = whole ? static_cast<size_t>(length) : bytes.size();
  return Box{reader.u32(4), reader.part(head, taken - std::min<size_t>(head, taken)), taken, whole};
}

/// Calls `visit` with each box. False: the last of them does not end with the bytes.
template <typename Visit>
bool visit_boxes(Bytes bytes, const Visit& visit) {
  while (const auto box = next_box(bytes)) {
    visit(*box);
    if (!box->whole) return false;
    bytes = bytes.subspan(box->length);
  }
  return bytes.empty();
}

/// The content of the first box of a type, none of it if there is no such box.
Bytes find_box(Bytes bytes, std::uint32_t type) {
  Bytes found;
  visit_boxes(bytes, [&](const Box& box) {
    if (box.type == type && found.empty()) found = box.content;
  });
  return found;
}

/// Behind the version and the flags that some boxes start with.
Bytes behind_flags(Bytes content) {
  return content.subspan(std::min<size_t>(4, content.size()));
}

std::uint32_t primary_item(Bytes meta) {
  const ByteReader reader(find_box(meta, code("pitm")), ByteOrder::kBig);
  return reader.u8(0) == 0 ? reader.u16(4) : reader.u32(4);
}

/// The properties of an item, counted from 1, as the box `ipma` lists them.
std::vector<size_t> properties_of(std::uint32_t item, Bytes associations) {
  const ByteReader reader(associations, ByteOrder::kBig);
  const bool wide_items = reader.u8(0) >= 1, wide = (reader.u8(3) & 1) != 0;
  std::vector<size_t> properties;
  size_t at = 8;
  for (size_t left = reader.u32(4); left > 0 && reader.has(at, 3); --left) {
    const std::uint32_t id = wide_items ? reader.u32(at) : reader.u16(at);
    at += wide_items ? 4 : 2;
    for (size_t count = reader.u8(at++); count > 0; --count, at += wide ? 2 : 1)
      if (id == item) properties.push_back(wide ? reader.u16(at) & 0x7fff : reader.u8(at) & 0x7f);
  }
  return properties;
}

/// The size of the primary item, before it is turned and cut.
void read_size(Bytes meta, ImageHeader& header) {
  const Bytes all = find_box(meta, code("iprp"));
  std::vector<Bytes> sizes;  // of each property; empty: it is no size
  visit_boxes(find_box(all, code("ipco")), [&](const Box& box) {
    if (sizes.size() < kMostProperties)
      sizes.push_back(box.type == code("ispe") ? box.content : Bytes());
  });
  const auto properties = properties_of(primary_item(meta), find_box(all, code("ipma")));
  for (const size_t property : properties) {
    if (property == 0 || property > sizes.size() || sizes[property - 1].empty()) continue;
    const ByteReader size(sizes[property - 1], ByteOrder::kBig);
    header.width = size.u32(4);
    header.height = size.u32(8);
    return;
  }
}

}  // namespace

FileFormat heif_format_of(Bytes bytes) {
  const ByteReader reader(bytes, ByteOrder::kBig);
  if (!reader.says(4, "ftyp")) return FileFormat::kUnknown;
  constexpr size_t kMostBrands = 14;  // in the 64 bytes that are enough to tell the format
  const size_t end = std::min<size_t>({reader.u32(0), reader.size(), 8 + 4 * kMostBrands});
  FileFormat found = FileFormat::kUnknown;
  for (size_t at = 8; at + 4 <= end; at += at == 8 ? 8 : 4) {  // a version follows the first
    const std::uint32_t brand = reader.u32(at);
    if (brand == code("avif") || brand == code("avis")) return FileFormat::kAvif;
    for (const auto* name : {"heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"})
      if (brand == code(name)) found = FileFormat::kHeic;
  }
  return found;
}

ImageHeader read_heif_header(Bytes bytes) {
  ImageHeader header{.format = heif_format_of(bytes)};
  Bytes meta;
  bool data = false;
  const bool whole = visit_boxes(bytes, [&](const Box& box) {
    if (box.type == code("meta") && meta.empty()) meta = behind_flags(box.content);
    data = data || (box.type == code("mdat") && box.whole);
  });
  // Cameras append what is no box at all.
  header.complete = !meta.empty() && (whole || data);
  header.most_pixels = bytes.size() * kMostPixelsPerByte;
  if (!meta.empty()) read_size(meta, header);
  return header;
}

}  // namespace vit::patch
