#include "patch/image/exif.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "patch/image/byte_reader.h"
#include "patch/image/image_header.h"

namespace vit::patch {
namespace {

constexpr size_t kLongestText = 200;

enum Tag : std::uint32_t {
  kLatitudeRef = 1,
  kLatitude = 2,
  kLongitudeRef = 3,
  kLongitude = 4,
  kMake = 0x010f,
  kModel = 0x0110,
  kDateTime = 0x0132,
  kExifDirectory = 0x8769,
  kPlaceDirectory = 0x8825,
  kTaken = 0x9003,
  kTakenOffset = 0x9011,
};
enum Type : std::uint32_t { kText = 2, kWhole = 4, kFraction = 5 };

/// A directory of the block: `start` is where it begins, 0: there is none.
struct Directory {
  ByteReader reader;
  size_t start = 0;

  /// The entry of a field of this type, 0: none.
  size_t find(Tag tag, Type type) const {
    const size_t count = start == 0 ? 0 : reader.u16(start);
    for (size_t i = 0; i < count; ++i) {
      const size_t entry = start + 2 + 12 * i;
      if (!reader.has(entry, 12)) break;
      if (reader.u16(entry) == tag && reader.u16(entry + 2) == type) return entry;
    }
    return 0;
  }

  Directory inner(Tag tag) const {
    const size_t entry = find(tag, kWhole);
    return {reader, entry == 0 ? 0 : reader.u32(entry + 8)};
  }

  /// Without control characters and blanks around it.
  std::string text(Tag tag) const {
    const size_t entry = find(tag, kText);
    if (entry == 0) return {};
    const size_t size = std::min<size_t>(reader.u32(entry + 4), kLongestText);
    const size_t at = reader.u32(entry + 4) <= 4 ? entry + 8 : reader.u32(entry + 8);
    std::string text;
    for (const std::byte byte : reader.part(at, size)) {
      const auto c = std::to_integer<unsigned char>(byte);
      if (c == 0) break;
      text += c < 32 || c == 127 ? ' ' : static_cast<char>(c);
    }
    const size_t first = text.find_first_not_of(' ');
    return first == text.npos ? "" : text.substr(first, text.find_last_not_of(' ') + 1 - first);
  }

  /// Degrees, minutes and seconds.
  std::optional<double> angle(Tag tag, Tag side, char negative, double most) const {
    const size_t entry = find(tag, kFraction);
    if (entry == 0 || reader.u32(entry + 4) != 3) return std::nullopt;
    const size_t at = reader.u32(entry + 8);
    if (!reader.has(at, 24)) return std::nullopt;
    double sum = 0.0, unit = 1.0;
    for (size_t i = 0; i < 3; ++i, unit *= 60.0) {
      const std::uint32_t above = reader.u32(at + 8 * i), below = reader.u32(at + 8 * i + 4);
      if (below == 0 && above != 0) return std::nullopt;
      if (below != 0) sum += static_cast<double>(above) / static_cast<double>(below) / unit;
    }
    const std::string letter = text(side);
    if (letter.empty() || sum > most) return std::nullopt;
    return letter.front() == negative ? -sum : sum;
  }
};

/// "2024-05-17T08:30:00" of EXIF's "2024:05:17 08:30:00"; empty: it is not a time.
std::string iso_time(std::string_view exif) {
  constexpr std::string_view kPattern = "0000:00:00 00:00:00";
  if (exif.size() < kPattern.size()) return {};
  for (size_t i = 0; i < kPattern.size(); ++i) {
    const bool digit = exif[i] >= '0' && exif[i] <= '9';
    if (kPattern[i] == '0' ? !digit : exif[i] != kPattern[i]) return {};
  }
  std::string time(exif.substr(0, kPattern.size()));
  const auto number = [&](size_t at) { return (time[at] - '0') * 10 + time[at + 1] - '0'; };
  const bool sensible = time.substr(0, 4) != "0000" && number(5) >= 1 && number(5) <= 12 &&
                        number(8) >= 1 && number(8) <= 31 && number(11) < 24 && number(14) < 60 &&
                        number(17) <= 60;
  if (!sensible) return {};
  time[4] = time[7] = '-';
  time[10] = 'T';
  return time;
}

/// "+02:00"
bool is_offset(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  return text.size() == 6 && (text[0] == '+' || text[0] == '-') && text[3] == ':' &&
         std::ranges::all_of(std::array{text[1], text[2], text[4], text[5]},
                             [&](char c) { return kDigits.find(c) != kDigits.npos; });
}

/// Many models begin with the name of the maker.
std::string camera_name(const std::string& make, const std::string& model) {
  const std::string_view brand = std::string_view(make).substr(0, make.find(' '));
  const bool repeated = make.empty() || std::string_view(model).starts_with(brand);
  return repeated ? model : model.empty() ? make : make + " " + model;
}

}  // namespace

PhotoFacts photo_facts(std::span<const std::byte> exif) {
  constexpr size_t kPrefix = 6;
  while (ByteReader(exif, ByteOrder::kBig).says(0, {"Exif\0\0", kPrefix}))
    exif = exif.subspan(kPrefix);
  const bool little = ByteReader(exif, ByteOrder::kBig).says(0, {"II*\0", 4});
  const ByteReader reader(exif, little ? ByteOrder::kLittle : ByteOrder::kBig);
  if (!little && !reader.says(0, {"MM\0*", 4})) return {};
  const Directory first{reader, reader.u32(4)};
  const Directory detail = first.inner(kExifDirectory), place = first.inner(kPlaceDirectory);
  PhotoFacts facts;
  facts.taken = iso_time(detail.text(kTaken));
  if (facts.taken.empty()) facts.taken = iso_time(first.text(kDateTime));
  const std::string offset = detail.text(kTakenOffset);
  if (!facts.taken.empty() && is_offset(offset)) facts.taken += offset;
  facts.camera = camera_name(first.text(kMake), first.text(kModel));
  facts.latitude = place.angle(kLatitude, kLatitudeRef, 'S', 90.0);
  facts.longitude = place.angle(kLongitude, kLongitudeRef, 'W', 180.0);
  if (!facts.latitude || !facts.longitude) facts.latitude = facts.longitude = std::nullopt;
  return facts;
}

PhotoFacts photo_facts_of_file(std::span<const std::byte> file) {
  return photo_facts(read_header(file).exif);
}

}  // namespace vit::patch
