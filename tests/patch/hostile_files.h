/// Image files that claim more than they contain, or contain what decoders do not read.
#pragma once

#include <string_view>

#include "tests/patch/image_files.h"

namespace vit::patch::test {

/// 57 bytes: a header, no data, an end.
inline Bytes png_without_data(std::uint32_t width, std::uint32_t height) {
  Bytes header = big(width, 4);
  append(header, big(height, 4));
  append(header, Bytes{1, 0, 0, 0, 0});
  Bytes file;
  append(file, kPngSignature);
  append(file, png_chunk("IHDR", header));
  append(file, png_chunk("IDAT", {}));
  append(file, png_chunk("IEND", {}));
  return file;
}

struct BmpKind {
  std::uint32_t bits = 24;
  std::uint32_t compression = 0;
  std::uint32_t header = 40;
};

/// `rows` as a BMP stores them: from the bottom unless the height is negative, padded by 4 bytes.
/// `between` lies between header and pixels: masks, or a palette of four bytes a colour.
inline Bytes bmp_file(std::int32_t width, std::int32_t height, BmpKind kind, const Bytes& between,
                      const Bytes& rows) {
  const auto data = static_cast<std::uint32_t>(14 + kind.header + between.size());
  Bytes file{'B', 'M'};
  append(file, little(data + static_cast<std::uint32_t>(rows.size()), 4));
  append(file, little(0, 4));
  append(file, little(data, 4));
  append(file, little(kind.header, 4));
  append(file, little(static_cast<std::uint32_t>(width), 4));
  append(file, little(static_cast<std::uint32_t>(height), 4));
  append(file, little(1, 2));
  append(file, little(kind.bits, 2));
  append(file, little(kind.compression, 4));
  append(file, little(static_cast<std::uint32_t>(rows.size()), 4));
  append(file, Bytes(16, 0));
  if (kind.bits <= 8) {
    const Bytes colours = little(static_cast<std::uint32_t>(between.size() / 4), 4);
    std::copy(colours.begin(), colours.end(), file.begin() + 46);
  }
  file.resize(14 + kind.header);
  append(file, between);
  append(file, rows);
  return file;
}

/// The JPEG with another size in its header.
inline Bytes with_jpeg_size(Bytes jpeg, std::uint32_t width, std::uint32_t height) {
  for (std::size_t at = 2; at + 9 < jpeg.size(); ++at)
    if (jpeg[at] == 0xff && (jpeg[at + 1] == 0xc0 || jpeg[at + 1] == 0xc2)) {
      const Bytes sizes = big(height << 16 | width, 4);
      std::copy(sizes.begin(), sizes.end(), jpeg.begin() + static_cast<std::ptrdiff_t>(at) + 5);
      break;
    }
  return jpeg;
}

/// The JPEG with `count` unrelated bytes before its image.
inline Bytes with_jpeg_ballast(const Bytes& jpeg, std::size_t count) {
  constexpr std::size_t kMost = 65000;
  Bytes file(jpeg.begin(), jpeg.begin() + 2);
  for (std::size_t done = 0; done < count; done += kMost) {
    append(file, Bytes{0xff, 0xed});
    append(file, big(kMost + 2, 2));
    file.insert(file.end(), kMost, 0);
  }
  file.insert(file.end(), jpeg.begin() + 2, jpeg.end());
  return file;
}

/// What tiff_file() made, with another value in a field of one number.
inline Bytes with_tiff_value(Bytes tiff, std::uint32_t tag, std::uint32_t value) {
  std::size_t at = 0;
  for (std::size_t i = 4; i-- > 0;) at = at << 8 | tiff[4 + i];
  for (at += 2; at + 12 <= tiff.size(); at += 12)
    if (tiff[at] + 256u * tiff[at + 1] == tag) {
      const Bytes number = little(value, 4);
      std::copy(number.begin(), number.end(), tiff.begin() + static_cast<std::ptrdiff_t>(at) + 8);
      if (tag == 258) tiff[at + 4] = 1;
      break;
    }
  return tiff;
}

/// A grey TIFF of one strip that holds `jpeg`.
inline Bytes tiff_of_jpeg(const Bytes& jpeg, std::uint32_t width, std::uint32_t height) {
  return with_tiff_value(with_tiff_value(tiff_file(jpeg, width, height, 1), 259, 7), 262, 1);
}

/// A progressive JPEG of one grey component and `scans` scans, of which only the first has data.
inline Bytes jpeg_of_scans(std::uint32_t width, std::uint32_t height, std::size_t scans) {
  Bytes file{0xff, 0xd8, 0xff, 0xdb, 0, 67, 0};
  file.insert(file.end(), 64, 1);
  append(file, Bytes{0xff, 0xc2, 0, 11, 8});
  append(file, big(height, 2));
  append(file, big(width, 2));
  append(file, Bytes{1, 1, 0x11, 0});
  // One code of one bit each: no difference; a run of 32,767 blocks without values.
  append(file, Bytes{0xff, 0xc4, 0, 20, 0x00, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  append(file,
         Bytes{0xff, 0xc4, 0, 20, 0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xe0});
  append(file, Bytes{0xff, 0xda, 0, 8, 1, 1, 0x00, 0, 0, 0});
  file.insert(file.end(), std::size_t{(width + 7) / 8} * ((height + 7) / 8) / 8 + 1, 0);
  for (std::size_t i = 1; i < scans; ++i)
    append(file, Bytes{0xff, 0xda, 0, 8, 1, 1, 0x00, 1, 63, 0, 0x3f, 0xff});
  append(file, Bytes{0xff, 0xd9});
  return file;
}

/// A grey JPEG of arithmetic codes with this data in its only scan.
inline Bytes arithmetic_jpeg(std::uint32_t width, std::uint32_t height, const Bytes& data) {
  Bytes file{0xff, 0xd8, 0xff, 0xdb, 0, 67, 0};
  file.insert(file.end(), 64, 1);
  append(file, Bytes{0xff, 0xc9, 0, 11, 8});
  append(file, big(height, 2));
  append(file, big(width, 2));
  append(file, Bytes{1, 1, 0x11, 0});
  append(file, Bytes{0xff, 0xdd, 0, 4, 0, 1});  // a restart marker after each block
  append(file, Bytes{0xff, 0xda, 0, 8, 1, 1, 0x00, 0, 63, 0});
  append(file, data);
  append(file, Bytes{0xff, 0xd9});
  return file;
}

/// A TIFF of one strip of fax codes (group 4) whose rows are all white: a bit each.
inline Bytes white_fax(std::uint32_t width, std::uint32_t height) {
  const Bytes codes(height / 8 + 1, 0xff);
  Bytes file = with_tiff_value(tiff_file(codes, width, height, 1), 259, 4);
  file = with_tiff_value(file, 258, 1);
  return with_tiff_value(file, 262, 0);
}

/// A WebP of one lossless chunk of 13 bytes, which says that it has this size.
inline Bytes webp_without_data(std::uint32_t width, std::uint32_t height) {
  Bytes file;
  append(file, std::string_view("RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f", 21));
  append(file, little((width - 1) | (height - 1) << 14, 4));
  file.resize(34);
  return file;
}

}  // namespace vit::patch::test
