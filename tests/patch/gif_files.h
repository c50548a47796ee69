/// GIF files built byte by byte.
#pragma once

#include "tests/patch/image_files.h"

namespace vit::patch::test {

struct GifFrame {
  std::uint32_t left = 0, top = 0, width = 0, height = 0;
  Bytes indices{};  ///< of colours, below 128, in the order of the file
  bool interlaced = false;
  int transparent = -1;
};

/// In blocks of at most 255 bytes, behind the size of the codes.
inline Bytes gif_data(const Bytes& codes) {
  Bytes data{7};
  for (std::size_t at = 0; at < codes.size(); at += 255) {
    const std::size_t length = std::min<std::size_t>(255, codes.size() - at);
    data.push_back(static_cast<std::uint8_t>(length));
    data.insert(data.end(), codes.begin() + static_cast<std::ptrdiff_t>(at),
                codes.begin() + static_cast<std::ptrdiff_t>(at + length));
  }
  data.push_back(0);
  return data;
}

/// LZW without any compression: the table is cleared before codes need a ninth bit.
inline Bytes gif_codes(const Bytes& indices) {
  constexpr std::uint8_t kClear = 128, kEnd = 129;
  constexpr std::size_t kBetweenClears = 100;
  Bytes codes;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (i % kBetweenClears == 0) codes.push_back(kClear);
    codes.push_back(indices[i]);
  }
  codes.push_back(kEnd);
  return codes;
}

inline Bytes gif_frame(const GifFrame& frame) {
  Bytes bytes;
  if (frame.transparent >= 0)
    append(bytes, Bytes{0x21, 0xf9, 4, 1, 0, 0, static_cast<std::uint8_t>(frame.transparent), 0});
  bytes.push_back(0x2c);
  for (const std::uint32_t value : {frame.left, frame.top, frame.width, frame.height})
    append(bytes, little(value, 2));
  bytes.push_back(frame.interlaced ? 0x40 : 0);
  append(bytes, gif_data(gif_codes(frame.indices)));
  return bytes;
}

/// Of 128 colours: number i is (2 i, i, 255 - i).
inline Bytes gif_file(std::uint32_t width, std::uint32_t height,
                      const std::vector<GifFrame>& frames) {
  Bytes file;
  append(file, std::string_view("GIF89a"));
  append(file, little(width, 2));
  append(file, little(height, 2));
  append(file, Bytes{0xf6, 0, 0});
  for (std::uint32_t i = 0; i < 128; ++i)
    append(file, Bytes{static_cast<std::uint8_t>(2 * i), static_cast<std::uint8_t>(i),
                       static_cast<std::uint8_t>(255 - i)});
  for (const GifFrame& frame : frames) append(file, gif_frame(frame));
  file.push_back(0x3b);
  return file;
}

}  // namespace vit::patch::test
