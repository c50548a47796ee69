// GIF: the first frame, as Pillow shows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "patch/image/image.h"
#include "tests/patch/decoded.h"
#include "tests/patch/gif_files.h"
#include "tests/support/peak_memory.h"

namespace vit::patch {
namespace {

using test::Bytes;
using test::decoded;
using test::GifFrame;
using test::message;
using vit::test::peak_megabytes;

Bytes indices_of(const Image& image) {
  Bytes indices;
  for (size_t at = 0; at < image.pixels.size(); at += 3) {
    const std::uint8_t index = image.pixels[at + 1];
    EXPECT_EQ(image.pixels[at], 2 * index);
    EXPECT_EQ(image.pixels[at + 2], 255 - index);
    indices.push_back(index);
  }
  return indices;
}

Bytes rising(size_t count) {
  Bytes indices;
  for (size_t i = 0; i < count; ++i) indices.push_back(static_cast<std::uint8_t>(i % 128));
  return indices;
}

TEST(Gif, IsItsFirstFrame) {
  const GifFrame first{0, 0, 30, 20, rising(600)};
  const GifFrame second{0, 0, 30, 20, Bytes(600, 5)};
  const Image image = decoded(test::gif_file(30, 20, {first, second}));
  EXPECT_EQ(image.width, 30u);
  EXPECT_EQ(image.height, 20u);
  EXPECT_EQ(indices_of(image), rising(600));
  EXPECT_EQ(image.damage, "");
}

TEST(Gif, InterlacedRowsComeInTheirPlaces) {
  for (const std::uint32_t height : {1u, 2u, 3u, 5u, 8u, 9u, 17u}) {
    Bytes stored, expected;
    for (const auto& [start, step] : {std::pair{0u, 8u}, {4u, 8u}, {2u, 4u}, {1u, 2u}})
      for (std::uint32_t y = start; y < height; y += step)
        stored.push_back(static_cast<std::uint8_t>(y));
    for (std::uint32_t y = 0; y < height; ++y) expected.push_back(static_cast<std::uint8_t>(y));
    const GifFrame frame{0, 0, 1, height, stored, true};
    EXPECT_EQ(indices_of(decoded(test::gif_file(1, height, {frame}))), expected) << height;
  }
}

TEST(Gif, AroundASmallFrameIsTheTransparentColourOrTheFirst) {
  GifFrame frame{1, 1, 1, 1, {9}};
  EXPECT_EQ(indices_of(decoded(test::gif_file(3, 2, {frame}))), (Bytes{0, 0, 0, 0, 9, 0}));
  frame.transparent = 4;
  EXPECT_EQ(indices_of(decoded(test::gif_file(3, 2, {frame}))), (Bytes{4, 4, 4, 4, 9, 4}));
  const GifFrame beyond{2, 0, 2, 1, {9, 8}};
  EXPECT_EQ(decoded(test::gif_file(3, 2, {beyond})).width, 4u) << "as in Pillow";
}

TEST(Gif, SaysWhatIsWrong) {
  const GifFrame good{0, 0, 3, 2, rising(6)};
  Bytes cut = test::gif_file(3, 2, {good});
  cut.resize(cut.size() - 5);
  EXPECT_EQ(message(cut), "test: this GIF is cut short: it ends after 414 bytes");
  EXPECT_EQ(message(test::gif_file(3, 2, {})), "test: cannot read this GIF: it has no image");
  EXPECT_EQ(message(test::gif_file(3, 2, {{0, 0, 3, 2, rising(5)}})),
            "test: cannot decode this GIF: giflib: Image EOF detected before image complete");
  EXPECT_EQ(message(test::gif_file(0, 0, {{0, 0, 0, 0, {}}})),
            "test: damaged GIF: its header gives a size of 0x0");
  Bytes few = test::gif_file(3, 2, {good});
  few[10] = 0xf0;  // says two colours; those that follow are not valid blocks
  EXPECT_THAT(message(few), testing::StartsWith("test: "));
}

TEST(Gif, ALargeSizeWithLittleDataCostsNothing) {
  std::string text;
  const Bytes large = test::gif_file(65535, 65535, {{0, 0, 1, 1, {1}}});
  EXPECT_LT(peak_megabytes([&] { text = message(large); }), 20u);
  EXPECT_EQ(text,
            "test: damaged GIF: its header gives a size of 65535x65535, but its data is too short "
            "for that");
  const Bytes frame = test::gif_file(1, 1, {{0, 0, 20000, 20000, Bytes(60000, 1)}});
  EXPECT_LT(peak_megabytes([&] { text = message(frame); }), 100u);
  EXPECT_THAT(text, testing::StartsWith("test: "));
}

/// Of three bits each: `clears` that clear the table, and then one pixel.
Bytes clearing_codes(size_t clears) {
  constexpr unsigned kClear = 4, kEnd = 5;
  Bytes codes;
  unsigned bits = 0, had = 0;
  const auto put = [&](unsigned code) {
    bits |= code << had;
    for (had += 3; had >= 8; had -= 8, bits >>= 8) codes.push_back(bits & 0xff);
  };
  for (size_t i = 0; i < clears; ++i) put(kClear);
  put(1);
  put(kEnd);
  codes.push_back(bits & 0xff);
  return codes;
}

TEST(Gif, ThatOnlyClearsItsTableIsRefused) {
  const auto clearing = [](size_t clears) {
    Bytes file = test::gif_file(1, 1, {});
    file.pop_back();  // of the file's end
    test::append(file, Bytes{0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0});
    Bytes data = test::gif_data(clearing_codes(clears));
    data.front() = 2;  // bits
    test::append(file, data);
    file.push_back(0x3b);
    return file;
  };
  EXPECT_EQ(indices_of(decoded(clearing(1000))), Bytes{1});
  EXPECT_EQ(message(clearing(2'000'000)),
            "test: cannot decode this GIF: it clears its table of codes more than a million times, "
            "as only a malicious file does");
}

}  // namespace
}  // namespace vit::patch
