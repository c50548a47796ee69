/// EXIF blocks for tests, little-endian.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vit::test {

struct ExifEntry {
  std::uint32_t tag = 0, type = 0, count = 0;
  std::string value{};  ///< at least four bytes lie elsewhere
};

inline std::string little(std::uint32_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i) & 255);
  return text;
}

inline ExifEntry exif_text(std::uint32_t tag, const std::string& text) {
  return {tag, 2, static_cast<std::uint32_t>(text.size() + 1), text + std::string(1, '\0')};
}

/// Degrees, minutes and hundredths of seconds.
inline ExifEntry exif_angle(std::uint32_t tag, std::vector<std::uint32_t> parts) {
  ExifEntry entry{tag, 5, 3};
  for (size_t i = 0; i < 3; ++i) entry.value += little(parts[i], 4) + little(i == 2 ? 100 : 1, 4);
  return entry;
}

/// A directory that begins at `start`, and what its entries point to behind it.
inline std::string exif_directory(const std::vector<ExifEntry>& entries, size_t start) {
  std::string head = little(static_cast<std::uint32_t>(entries.size()), 2), more;
  const size_t behind = start + 2 + 12 * entries.size() + 4;
  for (const auto& entry : entries) {
    head += little(entry.tag, 2) + little(entry.type, 2) + little(entry.count, 4);
    if (entry.value.size() <= 4) {
      head += entry.value + std::string(4 - entry.value.size(), '\0');
    } else {
      head += little(static_cast<std::uint32_t>(behind + more.size()), 4);
      more += entry.value;
    }
  }
  return head + little(0, 4) + more;
}

/// With the directories of details and of the place behind the first one.
inline std::string exif_block(std::vector<ExifEntry> first, const std::vector<ExifEntry>& detail,
                              const std::vector<ExifEntry>& place) {
  first.push_back({0x8769, 4, 1, little(0, 4)});
  first.push_back({0x8825, 4, 1, little(0, 4)});
  const size_t start = 8, detail_at = start + exif_directory(first, start).size();
  const std::string details = exif_directory(detail, detail_at);
  first[first.size() - 2].value = little(static_cast<std::uint32_t>(detail_at), 4);
  first.back().value = little(static_cast<std::uint32_t>(detail_at + details.size()), 4);
  return std::string("II*\0", 4) + little(8, 4) + exif_directory(first, start) + details +
         exif_directory(place, detail_at + details.size());
}

/// A JPEG file with this block.
inline std::string with_exif(const std::string& jpeg, const std::string& block) {
  const size_t length = 2 + 6 + block.size();
  std::string segment = "\xff\xe1";
  segment += static_cast<char>(length >> 8);
  segment += static_cast<char>(length & 255);
  return jpeg.substr(0, 2) + segment + std::string("Exif\0\0", 6) + block + jpeg.substr(2);
}

/// Of a camera in Sydney.
inline std::string sydney_exif() {
  return exif_block({exif_text(0x010f, "Canon"), exif_text(0x0110, "Canon EOS R5")},
                    {exif_text(0x9003, "2024:05:17 08:30:00"), exif_text(0x9011, "+10:00")},
                    {exif_text(1, "S"), exif_angle(2, {33, 51, 2448}), exif_text(3, "E"),
                     exif_angle(4, {151, 12, 3396})});
}

}  // namespace vit::test
