// TIFFs and BMPs of every kind that is read, against libtiff's conversion and OpenCV's decoders.
#include <gtest/gtest.h>
#include <tiffio.h>

#include <filesystem>
#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <random>

#include "patch/image/image.h"
#include "tests/patch/decoded.h"
#include "tests/patch/hostile_files.h"
#include "tests/patch/images.h"

namespace vit::patch {
namespace {

using test::Bytes;
using test::decoded;

/// Red first, of 16 bits the upper 8; without pixels where OpenCV does not read it.
Image by_opencv(const Bytes& bytes, bool deep) {
  const int flags = cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION;
  const cv::Mat mat = cv::imdecode(bytes, deep ? flags | cv::IMREAD_ANYDEPTH : flags);
  Image image{static_cast<size_t>(mat.cols), static_cast<size_t>(mat.rows), {}};
  for (size_t i = 0; i < mat.total() * 3; ++i) {
    const size_t from = i / 3 * 3 + 2 - i % 3;
    image.pixels.push_back(mat.depth() == CV_16U
                               ? static_cast<std::uint8_t>(mat.ptr<std::uint16_t>()[from] >> 8)
                               : mat.data[from]);
  }
  return image;
}

/// As libtiff converts the whole image; of 16 bits it rounds.
Image by_libtiff(const std::filesystem::path& path) {
  TIFFSetWarningHandler(nullptr);
  TIFF* tiff = TIFFOpen(path.c_str(), "r");
  Image image;
  std::uint32_t width = 0, height = 0;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
  std::vector<std::uint32_t> raster(size_t{width} * height);
  EXPECT_EQ(TIFFReadRGBAImageOriented(tiff, width, height, raster.data(), ORIENTATION_TOPLEFT, 1),
            1);
  TIFFClose(tiff);
  for (const std::uint32_t pixel : raster)
    for (const std::uint32_t value : {TIFFGetR(pixel), TIFFGetG(pixel), TIFFGetB(pixel)})
      image.pixels.push_back(static_cast<std::uint8_t>(value));
  return image;
}

struct TiffKind {
  std::uint16_t compression = COMPRESSION_NONE;
  std::uint16_t photometric = PHOTOMETRIC_RGB;
  std::uint16_t bits = 8, samples = 3;
  std::uint32_t rows_per_strip = 7;
  bool tiled = false, planes = false;
};

using Numbers = std::vector<std::uint16_t>;

constexpr std::uint32_t kWidth = 45, kHeight = 33;

void set_fields(TIFF* tiff, const TiffKind& kind) {
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, kWidth);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, kHeight);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, kind.compression);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, kind.photometric);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, kind.bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, kind.samples);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG,
               kind.planes ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  if (kind.photometric == PHOTOMETRIC_YCBCR) TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, 1, 1);
  if (kind.compression == COMPRESSION_JPEG && kind.photometric == PHOTOMETRIC_YCBCR)
    TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  if (kind.tiled) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 32);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, 16);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, kind.rows_per_strip);
  }
  if (kind.photometric == PHOTOMETRIC_PALETTE) {
    std::vector<std::uint16_t> red(size_t{1} << kind.bits), green(red), blue(red);
    for (size_t i = 0; i < red.size(); ++i) {
      red[i] = static_cast<std::uint16_t>(i * 60000 / red.size());
      green[i] = static_cast<std::uint16_t>(65535 - red[i]);
      blue[i] = static_cast<std::uint16_t>(i * 977);
    }
    TIFFSetField(tiff, TIFFTAG_COLORMAP, red.data(), green.data(), blue.data());
  }
}

struct Written {
  Bytes bytes;
  Image expected;  ///< by libtiff, but for 16 bits
};

/// Written by libtiff, with numbers that differ from place to place.
Written write_tiff(const TiffKind& kind) {
  const auto path = std::filesystem::path(testing::TempDir()) /
                    ("vit_formats_" + std::to_string(std::random_device{}()) + ".tif");
  TIFF* tiff = TIFFOpen(path.c_str(), "w");
  set_fields(tiff, kind);
  std::mt19937 random(kind.compression * 100u + kind.bits);
  const std::uint16_t planes = kind.planes ? kind.samples : 1;
  for (std::uint16_t plane = 0; plane < planes; ++plane)
    if (kind.tiled) {
      Bytes tile(static_cast<size_t>(TIFFTileSize(tiff)));
      for (std::uint32_t y = 0; y < kHeight; y += 16)
        for (std::uint32_t x = 0; x < kWidth; x += 32) {
          for (size_t i = 0; i < tile.size(); ++i)
            tile[i] = static_cast<std::uint8_t>(i * 3 + y * 5 + x + random() % 5);
          TIFFWriteTile(tiff, tile.data(), x, y, 0, plane);
        }
    } else {
      Bytes row(static_cast<size_t>(TIFFScanlineSize(tiff)));
      for (std::uint32_t y = 0; y < kHeight; ++y) {
        for (size_t i = 0; i < row.size(); ++i)
          row[i] = static_cast<std::uint8_t>(i * 3 + y * 5 + random() % 5);
        TIFFWriteScanline(tiff, row.data(), y, plane);
      }
    }
  TIFFClose(tiff);
  std::ifstream file(path, std::ios::binary);
  Written written{Bytes(std::istreambuf_iterator<char>(file), {}), {}};
  if (kind.bits != 16) written.expected = by_libtiff(path);
  std::filesystem::remove(path);
  return written;
}

Bytes tiff_of(const TiffKind& kind) {
  return write_tiff(kind).bytes;
}

void expect_same(const TiffKind& kind, const std::string& what) {
  const Written tiff = write_tiff(kind);
  const Image expected = kind.bits == 16 ? by_opencv(tiff.bytes, true) : tiff.expected;
  const Image found = decoded(tiff.bytes);
  EXPECT_EQ(found.width, kWidth) << what;
  EXPECT_EQ(found.damage, "") << what;
  EXPECT_TRUE(found.pixels == expected.pixels) << what;
}

TEST(Formats, TiffsOfEveryCompressionHaveTheBytesOfLibtiff) {
  for (const std::uint16_t compression :
       Numbers{COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS,
               COMPRESSION_ZSTD, COMPRESSION_LZMA})
    for (const std::uint32_t rows : {1u, 7u, kHeight})
      for (const bool tiled : {false, true})
        expect_same({.compression = compression, .rows_per_strip = rows, .tiled = tiled},
                    "compression " + std::to_string(compression) + " rows " + std::to_string(rows));
  for (const std::uint16_t compression : Numbers{COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4})
    expect_same({compression, PHOTOMETRIC_MINISWHITE, 1, 1}, "fax");
  expect_same({COMPRESSION_JPEG, PHOTOMETRIC_YCBCR, 8, 3, 16}, "JPEG");
  expect_same({COMPRESSION_JPEG, PHOTOMETRIC_MINISBLACK, 8, 1, 16}, "grey JPEG");
}

TEST(Formats, TiffsOfEveryColourHaveTheBytesOfLibtiffAndDeepOnesThoseOfOpenCv) {
  for (const bool tiled : {false, true}) {
    for (const std::uint16_t bits : Numbers{8, 16}) {
      expect_same({.bits = bits, .tiled = tiled}, "RGB");
      expect_same({.bits = bits, .samples = 4, .tiled = tiled}, "RGBA");
      expect_same({COMPRESSION_LZW, PHOTOMETRIC_MINISBLACK, bits, 1, 5, tiled}, "grey");
      if (bits == 8 && !tiled)  // libtiff shifts the rows of tiles at the right edge
        expect_same({COMPRESSION_LZW, PHOTOMETRIC_MINISBLACK, bits, 2, 5, tiled}, "grey and alpha");
    }
    for (const std::uint16_t bits : Numbers{1, 8})
      expect_same({COMPRESSION_NONE, PHOTOMETRIC_MINISBLACK, bits, 1, 5, tiled}, "few bits");
    expect_same({COMPRESSION_NONE, PHOTOMETRIC_MINISWHITE, 8, 1, 5, tiled}, "white is zero");
    expect_same({COMPRESSION_NONE, PHOTOMETRIC_PALETTE, 8, 1, 5, tiled}, "palette");
    expect_same({COMPRESSION_NONE, PHOTOMETRIC_PALETTE, 4, 1, 5, tiled}, "palette of 16");
    expect_same({COMPRESSION_NONE, PHOTOMETRIC_SEPARATED, 8, 4, 5, tiled}, "CMYK");
    expect_same({COMPRESSION_NONE, PHOTOMETRIC_CIELAB, 8, 3, 5, tiled}, "Lab");
    expect_same({COMPRESSION_NONE, PHOTOMETRIC_YCBCR, 8, 3, 5, tiled}, "YCbCr");
    expect_same({.tiled = tiled, .planes = true}, "planes");
  }
}

TEST(Formats, DeepTiffsOfPlanesAndOfInvertedGreyAreReadAsTheyAreMeant) {
  const Image together = decoded(tiff_of({.bits = 16})),
              apart = decoded(tiff_of({.bits = 16, .planes = true}));
  EXPECT_EQ(apart.pixels.size(), together.pixels.size());
  const Image black = decoded(tiff_of({COMPRESSION_NONE, PHOTOMETRIC_MINISBLACK, 16, 1}));
  Image white = decoded(tiff_of({COMPRESSION_NONE, PHOTOMETRIC_MINISWHITE, 16, 1}));
  for (std::uint8_t& value : white.pixels) value = static_cast<std::uint8_t>(255 - value);
  EXPECT_TRUE(white.pixels == black.pixels);
}

TEST(Formats, DamagedStripsOfATiffAreRefusedOrNoted) {
  for (const std::uint16_t compression : Numbers{COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE}) {
    Bytes tiff = tiff_of({.compression = compression});
    std::fill_n(tiff.begin() + 200, 400, std::uint8_t{0xa5});
    EXPECT_THROW(decoded(tiff), std::runtime_error) << compression;
  }
  Bytes fax = tiff_of({COMPRESSION_CCITTFAX4, PHOTOMETRIC_MINISWHITE, 1, 1, kHeight});
  std::fill_n(fax.begin() + 60, 60, std::uint8_t{0});
  std::string note;
  try {
    note = decoded(fax).damage;
  } catch (const std::runtime_error& error) {
    note = error.what();
  }
  EXPECT_NE(note, "");
}

void expect_same_bmp(const Bytes& bmp, const std::string& what) {
  const Image expected = by_opencv(bmp, false), found = decoded(bmp);
  ASSERT_FALSE(expected.pixels.empty()) << what;
  EXPECT_EQ(found.damage, "") << what;
  EXPECT_EQ(found.pixels, expected.pixels) << what;
}

Bytes numbers(size_t count) {
  Bytes bytes(count);
  std::mt19937 random(3);
  for (std::uint8_t& value : bytes) value = static_cast<std::uint8_t>(random());
  return bytes;
}

TEST(Formats, BmpsOfEveryKindHaveTheBytesOfOpenCv) {
  for (const int height : {5, -5}) {
    for (const unsigned bits : {1u, 4u, 8u})
      expect_same_bmp(test::bmp_file(13, height, {bits, 0, 40}, numbers(4u << bits),
                                     numbers((13 * bits + 31) / 32 * 4 * 5)),
                      "palette of " + std::to_string(bits));
    expect_same_bmp(test::bmp_file(13, height, {16, 0, 40}, {}, numbers(28 * 5)), "5-5-5");
    expect_same_bmp(test::bmp_file(13, height, {24, 0, 40}, {}, numbers(40 * 5)), "24 bits");
    expect_same_bmp(test::bmp_file(13, height, {32, 0, 40}, {}, numbers(52 * 5)), "32 bits");
    Bytes masks = test::little(0xf800, 4);
    test::append(masks, test::little(0x7e0, 4));
    test::append(masks, test::little(0x1f, 4));
    expect_same_bmp(test::bmp_file(13, height, {16, 3, 40}, masks, numbers(28 * 5)), "5-6-5");
  }
  Bytes old{'B', 'M'};
  for (const unsigned value : {0u, 0u, 26u, 12u}) test::append(old, test::little(value, 4));
  for (const unsigned value : {13u, 5u, 1u, 24u}) test::append(old, test::little(value, 2));
  test::append(old, numbers(40 * 5));
  expect_same_bmp(old, "OS/2");
}

TEST(Formats, RunLengthBmpsHaveTheBytesOfOpenCv) {
  const Bytes palette = numbers(1024), few = numbers(64);
  expect_same_bmp(test::bmp_file(6, 2, {8, 1, 40}, palette,
                                 {3, 7, 0, 3, 1, 2, 3, 0, 0, 0, 1, 9, 5, 200, 0, 0, 0, 1}),
                  "RLE8");
  expect_same_bmp(
      test::bmp_file(7, 2, {4, 2, 40}, few, {3, 0x7a, 0, 4, 0x12, 0x34, 0, 0, 7, 0x55, 0, 0, 0, 1}),
      "RLE4");
}

TEST(Formats, MasksOfABmpSayWhereItsColoursAre) {
  Bytes masks = test::little(0xff, 4);
  test::append(masks, test::little(0xff00, 4));
  test::append(masks, test::little(0xff0000, 4));
  EXPECT_EQ(decoded(test::bmp_file(1, 1, {32, 3, 40}, masks, {1, 2, 3, 0})).pixels,
            (Bytes{1, 2, 3}));
}

}  // namespace
}  // namespace vit::patch
