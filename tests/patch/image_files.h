/// Image files built byte by byte, for what OpenCV's encoders do not write.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace vit::patch::test {

using Bytes = std::vector<std::uint8_t>;

inline void append(Bytes& to, const Bytes& more) {
  to.insert(to.end(), more.begin(), more.end());
}
inline void append(Bytes& to, std::string_view more) {
  to.insert(to.end(), more.begin(), more.end());
}

inline Bytes big(std::uint32_t value, std::size_t count) {
  Bytes bytes;
  for (std::size_t i = count; i-- > 0;) bytes.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  return bytes;
}

inline Bytes little(std::uint32_t value, std::size_t count) {
  const Bytes reversed = big(value, count);
  return {reversed.rbegin(), reversed.rend()};
}

/// An EXIF block whose only field is the orientation.
inline Bytes exif_block(unsigned orientation, bool big_endian) {
  const auto number = big_endian ? big : little;
  Bytes block;
  append(block, big_endian ? std::string_view("MM\0*", 4) : std::string_view("II*\0", 4));
  append(block, number(8, 4));
  append(block, number(1, 2));
  append(block, number(274, 2));
  append(block, number(3, 2));
  append(block, number(1, 4));
  append(block, number(orientation, 2));
  append(block, number(0, 2));
  append(block, number(0, 4));
  return block;
}

inline Bytes with_jpeg_exif(const Bytes& jpeg, const Bytes& exif) {
  Bytes file{0xff, 0xd8, 0xff, 0xe1};
  append(file, big(static_cast<std::uint32_t>(exif.size() + 8), 2));
  append(file, std::string_view("Exif\0\0", 6));
  append(file, exif);
  file.insert(file.end(), jpeg.begin() + 2, jpeg.end());
  return file;
}

inline std::uint32_t plain_crc(const Bytes& bytes) {
  std::uint32_t crc = 0xffffffffu;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? 0xedb88320u ^ crc >> 1 : crc >> 1;
  }
  return ~crc;
}

inline Bytes png_chunk(std::string_view type, const Bytes& data) {
  Bytes named;
  append(named, type);
  append(named, data);
  Bytes chunk = big(static_cast<std::uint32_t>(data.size()), 4);
  append(chunk, named);
  append(chunk, big(plain_crc(named), 4));
  return chunk;
}

inline const std::string_view kPngSignature("\x89PNG\r\n\x1a\n", 8);

/// Inserts a chunk behind the header.
inline Bytes with_png_chunk(const Bytes& png, std::string_view type, const Bytes& data) {
  constexpr std::ptrdiff_t kHeaderEnd = 8 + 12 + 13;
  Bytes file(png.begin(), png.begin() + kHeaderEnd);
  append(file, png_chunk(type, data));
  file.insert(file.end(), png.begin() + kHeaderEnd, png.end());
  return file;
}

struct PngKind {
  std::uint8_t bits;
  std::uint8_t colour;  ///< 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha
};

/// `rows` as PNG wants them, without the filter bytes; the data is stored, not compressed.
inline Bytes png_file(std::uint32_t width, const std::vector<Bytes>& rows, PngKind kind,
                      const Bytes& palette = {}) {
  Bytes raw;
  for (const Bytes& row : rows) {
    raw.push_back(0);
    append(raw, row);
  }
  std::uint32_t a = 1, b = 0;  // Adler-32
  for (const std::uint8_t byte : raw) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  Bytes stored{0x78, 0x01, 0x01};
  append(stored, little(static_cast<std::uint32_t>(raw.size()), 2));
  append(stored, little(~static_cast<std::uint32_t>(raw.size()), 2));
  append(stored, raw);
  append(stored, big(b << 16 | a, 4));

  Bytes header = big(width, 4);
  append(header, big(static_cast<std::uint32_t>(rows.size()), 4));
  append(header, Bytes{kind.bits, kind.colour, 0, 0, 0});
  Bytes file;
  append(file, kPngSignature);
  append(file, png_chunk("IHDR", header));
  if (!palette.empty()) append(file, png_chunk("PLTE", palette));
  append(file, png_chunk("IDAT", stored));
  append(file, png_chunk("IEND", {}));
  return file;
}

/// WebP as `encoder` wrote it (a lone VP8L chunk), in the extended form that can hold EXIF.
inline Bytes with_webp_exif(const Bytes& webp, std::uint32_t width, std::uint32_t height,
                            const Bytes& exif) {
  Bytes body;
  append(body, "WEBPVP8X");
  append(body, little(10, 4));
  append(body, little(8, 4));  // flags: EXIF
  append(body, little(width - 1, 3));
  append(body, little(height - 1, 3));
  body.insert(body.end(), webp.begin() + 12, webp.end());
  append(body, "EXIF");
  append(body, little(static_cast<std::uint32_t>(exif.size()), 4));
  append(body, exif);
  if (exif.size() % 2 != 0) body.push_back(0);
  Bytes file;
  append(file, "RIFF");
  append(file, little(static_cast<std::uint32_t>(body.size()), 4));
  append(file, body);
  return file;
}

struct TiffField {
  std::uint32_t tag;
  std::uint32_t value;
};

/// An uncompressed little-endian TIFF of one strip, 8 bits a sample.
inline Bytes tiff_file(const Bytes& pixels, std::uint32_t width, std::uint32_t height,
                       std::uint32_t samples, const std::vector<TiffField>& more = {}) {
  std::vector<TiffField> fields{
      {256, width},   {257, height}, {258, 8},
      {259, 1},       {262, 2},      {273, 8},
      {277, samples}, {278, height}, {279, static_cast<std::uint32_t>(pixels.size())}};
  fields.insert(fields.end(), more.begin(), more.end());
  std::sort(fields.begin(), fields.end(),
            [](const TiffField& a, const TiffField& b) { return a.tag < b.tag; });
  Bytes file;
  append(file, std::string_view("II*\0", 4));
  append(file, little(static_cast<std::uint32_t>(8 + pixels.size()), 4));
  append(file, pixels);
  const auto entries_end = static_cast<std::uint32_t>(file.size() + 2 + fields.size() * 12 + 4);
  append(file, little(static_cast<std::uint32_t>(fields.size()), 2));
  for (const TiffField& field : fields) {
    const bool bits = field.tag == 258;  // one number per sample, behind the directory unless alone
    append(file, little(field.tag, 2));
    append(file, little(field.value > 0xffff ? 4 : 3, 2));
    append(file, little(bits ? samples : 1, 4));
    append(file, little(bits && samples > 1 ? entries_end : field.value, 4));
  }
  append(file, little(0, 4));
  for (std::uint32_t i = 0; i < samples; ++i) append(file, little(8, 2));
  return file;
}

/// A JPEG of 8x8 equal pixels with any number of components and Adobe's marker.
inline Bytes flat_jpeg(const std::vector<std::uint8_t>& components) {
  const auto count = static_cast<std::uint8_t>(components.size());
  Bytes file{0xff, 0xd8, 0xff, 0xee, 0, 14};
  append(file, std::string_view("Adobe\0\x64\0\0\0\0\0", 12));  // transform 0: as they are
  append(file, Bytes{0xff, 0xdb, 0, 67, 0});
  file.insert(file.end(), 64, 8);  // 8 times the step of the mean: differences are pixel values
  append(file,
         Bytes{0xff, 0xc0, 0, static_cast<std::uint8_t>(8 + 3 * count), 8, 0, 8, 0, 8, count});
  for (std::uint8_t c = 1; c <= count; ++c) append(file, Bytes{c, 0x11, 0});
  // Means: lengths 0 to 11 have the codes 0 to 11 of four bits. Others: the end alone, code 0.
  append(file, Bytes{0xff, 0xc4, 0, 31, 0x00, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  for (std::uint8_t i = 0; i < 12; ++i) file.push_back(i);
  append(file, Bytes{0xff, 0xc4, 0, 20, 0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  append(file, Bytes{0xff, 0xda, 0, static_cast<std::uint8_t>(6 + 2 * count), count});
  for (std::uint8_t c = 1; c <= count; ++c) append(file, Bytes{c, 0x00});
  append(file, Bytes{0, 63, 0});

  std::string bits;
  const auto write = [&bits](unsigned value, int length) {
    for (int i = length - 1; i >= 0; --i) bits += value >> i & 1 ? '1' : '0';
  };
  for (const std::uint8_t component : components) {
    const int mean = component - 128;
    int length = 0;
    while (std::abs(mean) >> length != 0) ++length;
    write(static_cast<unsigned>(length), 4);
    write(static_cast<unsigned>(mean < 0 ? mean + (1 << length) - 1 : mean), length);
    write(0, 1);
  }
  while (bits.size() % 8 != 0) bits += '1';
  for (std::size_t i = 0; i < bits.size(); i += 8) {
    file.push_back(static_cast<std::uint8_t>(std::stoi(bits.substr(i, 8), nullptr, 2)));
    if (file.back() == 0xff) file.push_back(0);
  }
  append(file, Bytes{0xff, 0xd9});
  return file;
}

}  // namespace vit::patch::test
