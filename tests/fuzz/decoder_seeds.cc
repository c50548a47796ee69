#include "tests/fuzz/seeds.h"
#include "tests/patch/gif_files.h"
#include "tests/patch/heif_files.h"
#include "tests/patch/hostile_files.h"
#include "tests/tools/sources/zip_builder.h"

namespace vit::fuzz {
namespace {

using namespace patch::test;
using Seeds = std::vector<std::string>;

Seeds texts_of(const std::vector<Bytes>& files) {
  Seeds texts;
  for (const Bytes& file : files) texts.emplace_back(file.begin(), file.end());
  return texts;
}

/// Two colours in one pixel, lossless.
Bytes small_webp() {
  Bytes webp;
  append(webp,
         std::string_view("RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f\0\0\0\0\x07\x10\xfd\x8f\xfe\x07"
                          "\x22\xa2\xff\x01",
                          34));
  return webp;
}

}  // namespace

Seeds jpeg_seeds() {
  return texts_of({flat_jpeg({9, 9, 9}), flat_jpeg({9}), flat_jpeg({1, 2, 3, 4}),
                   jpeg_of_scans(16, 16, 3), jpeg_of_scans(40, 24, 90),
                   with_jpeg_size(flat_jpeg({9, 9, 9}), 64, 64),
                   with_jpeg_exif(flat_jpeg({9}), exif_block(6, true))});
}

Seeds bmp_seeds() {
  const Bytes palette(64, 9);
  Bytes masks = little(0xf800, 4);
  append(masks, little(0x7e0, 4));
  append(masks, little(0x1f, 4));
  return texts_of(
      {bmp_file(3, 2, {24, 0, 40}, {}, Bytes(24, 7)),
       bmp_file(3, -2, {32, 0, 40}, {}, Bytes(24, 7)),
       bmp_file(3, 2, {16, 3, 40}, masks, Bytes(16, 7)),
       bmp_file(3, 2, {1, 0, 40}, palette, Bytes(8, 7)),
       bmp_file(4, 2, {8, 1, 40}, palette, {4, 1, 0, 2, 1, 0, 0, 3, 1, 2, 3, 0, 0, 0, 0, 1}),
       bmp_file(4, 2, {4, 2, 40}, palette, {4, 0x12, 0, 0, 0, 4, 0x12, 0x34, 0, 1})});
}

Seeds tiff_seeds() {
  const Bytes pixels(48, 7);
  std::vector<Bytes> files{
      tiff_file(pixels, 4, 4, 3), tiff_file(Bytes(64, 7), 4, 4, 4, {{338, 2}, {274, 3}}),
      tiff_file(pixels, 4, 4, 3, {{284, 2}}), tiff_file(Bytes(16, 7), 4, 4, 1, {{317, 2}}),
      tiff_file(pixels, 4, 4, 3, {{322, 16}, {323, 16}})};
  // The same pixels, said to be compressed.
  for (const unsigned value : {2u, 3u, 4u, 5u, 7u, 8u, 32773u, 50000u, 50001u}) {
    files.push_back(tiff_file(pixels, 4, 4, 3));
    const std::size_t compression = 8 + pixels.size() + 2 + 3 * 12 + 8;
    files.back()[compression] = static_cast<std::uint8_t>(value);
    files.back()[compression + 1] = static_cast<std::uint8_t>(value >> 8);
  }
  return texts_of(files);
}

Seeds webp_seeds() {
  return texts_of({small_webp(), webp_without_data(2, 2),
                   with_webp_exif(small_webp(), 1, 1, exif_block(6, true))});
}

Seeds gif_seeds() {
  const Bytes indices{1, 2, 3, 4, 5, 6};
  return texts_of({gif_file(3, 2, {{0, 0, 3, 2, indices}}),
                   gif_file(4, 4, {{1, 1, 3, 2, indices, true, 7}, {0, 0, 1, 1, {1}}}),
                   gif_file(3, 2, {}), gif_file(3, 2, {{0, 0, 3, 3, indices}})});
}

Seeds heif_seeds() {
  return texts_of({heif_file(4, 3, {1, 2, 3}), heif_file(4, 3, {1, 2, 3}, "avif"),
                   heif_file(20000, 20000, {}), heif_box("ftyp", {'h', 'e', 'i', 'c'})});
}

Seeds zip_seeds() {
  using tools::zip_file;
  return {zip_file({{.name = "1.jpg", .content = "one"},
                    {.name = "d/2.jpg", .content = "two", .deflate = false, .described = true}}),
          zip_file({{.name = "1.jpg", .content = "one", .zip64 = true}}, "before", "behind", true),
          zip_file({{.name = "1.jpg", .content = "one", .flags = 1},
                    {.name = "2.jpg", .content = "two", .says = 1'000'000'000'000}}),
          zip_file({})};
}

Seeds gzip_seeds() {
  constexpr int kGzip = 16 + MAX_WBITS;
  const std::string text = test::deflated(std::string(5000, 'x') + "end", kGzip);
  return {text, text + text, test::deflated("", kGzip), text.substr(0, text.size() - 9)};
}

}  // namespace vit::fuzz
