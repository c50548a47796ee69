/// The boxes of HEIC and AVIF files, for those that no encoder writes.
#pragma once

#include "tests/patch/image_files.h"

namespace vit::patch::test {

inline Bytes heif_box(std::string_view type, const Bytes& content) {
  Bytes box = big(static_cast<std::uint32_t>(8 + content.size()), 4);
  append(box, type);
  append(box, content);
  return box;
}

/// A file whose one image has a size and `data`, and nothing that decodes it.
inline Bytes heif_file(std::uint32_t width, std::uint32_t height, const Bytes& data,
                       std::string_view brand = "heic") {
  Bytes kind;
  append(kind, brand);
  append(kind, big(0, 4));
  append(kind, std::string_view("mif1"));
  append(kind, brand);
  Bytes size = big(0, 4);
  append(size, big(width, 4));
  append(size, big(height, 4));
  Bytes properties = heif_box("ipco", heif_box("ispe", size));
  // One item, number 7, with one property, the first.
  append(properties, heif_box("ipma", {0, 0, 0, 0, 0, 0, 0, 1, 0, 7, 1, 1}));
  Bytes meta = big(0, 4);
  append(meta, heif_box("pitm", {0, 0, 0, 0, 0, 7}));
  append(meta, heif_box("iprp", properties));
  Bytes file = heif_box("ftyp", kind);
  append(file, heif_box("meta", meta));
  append(file, heif_box("mdat", data));
  return file;
}

}  // namespace vit::patch::test
