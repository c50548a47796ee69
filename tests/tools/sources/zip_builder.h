/// Writes .zip files, also broken ones.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/deflate.h"

namespace vit::tools {

struct ZipPart {
  std::string name;
  std::string content;
  bool deflate = true;
  bool zip64 = false;      ///< sizes and place in the extra field
  bool described = false;  ///< sizes behind the content, as streaming programs write
  std::uint16_t flags = 0;
  int method = -1;               ///< -1: as it is stored
  std::uint32_t attributes = 0;  ///< of Unix
  std::uint64_t says = 0;        ///< another size than that of the content
  std::uint32_t wrong_sum = 0;   ///< changes the checksum
};

inline std::string zip_number(std::uint64_t value, std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i, value >>= 8) bytes += static_cast<char>(value);
  return bytes;
}

/// `before` stands in front of the archive and is not counted by its places.
inline std::string zip_file(const std::vector<ZipPart>& parts, const std::string& before = "",
                            const std::string& comment = "", bool zip64_end = false) {
  std::string file, directory;
  for (const ZipPart& part : parts) {
    const std::string packed = part.deflate ? test::deflated(part.content) : part.content;
    const auto* bytes = reinterpret_cast<const Bytef*>(part.content.data());
    const std::uint64_t sum = crc32_z(0, bytes, part.content.size()) ^ part.wrong_sum;
    const std::uint64_t size = part.says != 0 ? part.says : part.content.size();
    const auto method =
        static_cast<std::uint64_t>(part.method >= 0 ? part.method : (part.deflate ? 8 : 0));
    const std::string head = zip_number(part.flags | (part.described ? 8u : 0u), 2) +
                             zip_number(method, 2) + zip_number(0, 4);
    const std::string sizes =
        zip_number(sum, 4) + zip_number(packed.size(), 4) + zip_number(size, 4);
    const std::string none = zip_number(0, 12), large(8, '\xff');
    const std::uint64_t place = file.size();
    file += zip_number(0x04034b50, 4) + zip_number(20, 2) + head + (part.described ? none : sizes) +
            zip_number(part.name.size(), 2) + zip_number(0, 2) + part.name + packed;
    if (part.described) file += zip_number(0x08074b50, 4) + sizes;
    const std::string extra = part.zip64
                                  ? zip_number(1, 2) + zip_number(24, 2) + zip_number(size, 8) +
                                        zip_number(packed.size(), 8) + zip_number(place, 8)
                                  : "";
    directory += zip_number(0x02014b50, 4) + zip_number(0x0314, 2) + zip_number(20, 2) + head +
                 (part.zip64 ? zip_number(sum, 4) + large : sizes) +
                 zip_number(part.name.size(), 2) + zip_number(extra.size(), 2) + zip_number(0, 2) +
                 zip_number(0, 2) + zip_number(0, 2) + zip_number(part.attributes << 16, 4) +
                 (part.zip64 ? large.substr(4) : zip_number(place, 4)) + part.name + extra;
  }
  const std::uint64_t place = file.size(), count = parts.size();
  file += directory;
  if (zip64_end)
    file += zip_number(0x06064b50, 4) + zip_number(44, 8) + zip_number(45, 2) + zip_number(45, 2) +
            zip_number(0, 8) + zip_number(count, 8) + zip_number(count, 8) +
            zip_number(directory.size(), 8) + zip_number(place, 8) + zip_number(0x07064b50, 4) +
            zip_number(0, 4) + zip_number(place + directory.size(), 8) + zip_number(1, 4);
  const std::uint64_t in_64 = 0xffffffff;
  file += zip_number(0x06054b50, 4) + zip_number(0, 4) + zip_number(count, 2) +
          zip_number(count, 2) + zip_number(zip64_end ? in_64 : directory.size(), 4) +
          zip_number(zip64_end ? in_64 : place, 4) + zip_number(comment.size(), 2) + comment;
  return before + file;
}

}  // namespace vit::tools
