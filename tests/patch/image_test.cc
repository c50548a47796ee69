#include "patch/image/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <opencv2/imgcodecs.hpp>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/patch/image_files.h"
#include "tests/patch/images.h"
#include "tests/support/message_of.h"
#include "tests/support/paths.h"
#include "vit/base/error.h"

namespace vit::patch {
namespace {

using test::Bytes;
using test::flat;
using test::noise;
using testing::HasSubstr;
using vit::test::message_of;

/// As OpenCV keeps it: blue first.
cv::Mat to_mat(const Image& image) {
  cv::Mat mat(static_cast<int>(image.height), static_cast<int>(image.width), CV_8UC3);
  for (size_t i = 0; i < image.pixels.size(); i += 3)
    for (size_t c = 0; c < 3; ++c) mat.data[i + c] = image.pixels[i + 2 - c];
  return mat;
}

Bytes encode(const cv::Mat& mat, const char* extension, const std::vector<int>& options = {}) {
  Bytes bytes;
  EXPECT_TRUE(cv::imencode(extension, mat, bytes, options));
  return bytes;
}

const std::vector<int> kLosslessWebp{cv::IMWRITE_WEBP_QUALITY, 101};

Image decoded(const Bytes& bytes, Exif exif = Exif::kApply) {
  return decode(std::as_bytes(std::span(bytes)), "test", exif);
}

std::string decode_message(const Bytes& bytes) {
  return message_of([&bytes] { decoded(bytes); });
}

/// EXIF's eight orientations, written out as the rows and columns that they exchange.
Image naively_oriented(const Image& image, int orientation) {
  const bool turned = orientation >= 5;
  Image result = flat(turned ? image.height : image.width, turned ? image.width : image.height, 0);
  for (size_t y = 0; y < result.height; ++y)
    for (size_t x = 0; x < result.width; ++x) {
      size_t from_x = turned ? y : x, from_y = turned ? x : y;
      if (orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8)
        from_x = image.width - 1 - from_x;
      if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7)
        from_y = image.height - 1 - from_y;
      std::copy_n(image.row(from_y) + 3 * from_x, 3, result.row(y) + 3 * x);
    }
  return result;
}

TEST(Decode, GivesBackWhatLosslessFormatsHold) {
  for (const auto& [width, height] : {std::pair{37, 29}, {1, 1}, {5, 1}, {1, 7}}) {
    const Image image = noise(static_cast<size_t>(width), static_cast<size_t>(height));
    const cv::Mat mat = to_mat(image);
    EXPECT_EQ(decoded(encode(mat, ".png")).pixels, image.pixels);
    EXPECT_EQ(decoded(encode(mat, ".bmp")).pixels, image.pixels);
    EXPECT_EQ(decoded(encode(mat, ".tiff")).pixels, image.pixels);
    EXPECT_EQ(decoded(encode(mat, ".webp", kLosslessWebp)).pixels, image.pixels);
  }
}

TEST(Decode, GivesTheColoursOfJpegs) {
  EXPECT_EQ(decoded(test::flat_jpeg({200})).pixels, flat(8, 8, 200).pixels);
  const Image colour = decoded(test::flat_jpeg({250, 3, 77}));
  ASSERT_EQ(colour.width, 8u);
  ASSERT_EQ(colour.height, 8u);
  EXPECT_EQ(colour.pixels[0], 250);
  EXPECT_EQ(colour.pixels[1], 3);
  EXPECT_EQ(colour.pixels[2], 77);
}

TEST(Decode, TakesCmykAsAdobeStoresItInverted) {
  // Full ink is 0. Pillow: black - (255 - colour) · black / 255; OpenCV divides by 256 instead.
  for (const auto& [cyan, magenta, yellow, black] :
       {std::array<std::uint8_t, 4>{255, 255, 255, 255},
        {0, 128, 255, 255},
        {255, 40, 9, 100},
        {10, 20, 30, 0}}) {
    const Image image = decoded(test::flat_jpeg({cyan, magenta, yellow, black}));
    const std::array<std::uint8_t, 3> inks{cyan, magenta, yellow};
    for (size_t c = 0; c < 3; ++c) {
      const double expected = black - (255 - inks[c]) * black / 255.0;
      EXPECT_NEAR(image.pixels[c], expected, 2.0) << "channel " << c;
    }
  }
}

TEST(Decode, RepeatsGreyAndDropsAlpha) {
  const std::vector<Bytes> rows{{10, 99, 20, 0}, {30, 255, 40, 7}};
  const Image grey = decoded(test::png_file(2, rows, {8, 4}));
  EXPECT_EQ(grey.pixels, (Bytes{10, 10, 10, 20, 20, 20, 30, 30, 30, 40, 40, 40}));
  const Image colour = decoded(test::png_file(1, {{1, 2, 3, 0}}, {8, 6}));
  EXPECT_EQ(colour.pixels, (Bytes{1, 2, 3}));
  const cv::Mat clear(3, 3, CV_8UC4, cv::Scalar(30, 20, 10, 0));
  EXPECT_EQ(decoded(encode(clear, ".webp", kLosslessWebp)).pixels.size(), 27u);
}

TEST(Decode, DoesNotMultiplyTheAlphaOfATiffIntoItsColours) {
  const Bytes tiff = test::tiff_file({200, 100, 50, 10}, 1, 1, 4, {{338, 2}});
  EXPECT_EQ(decoded(tiff).pixels, (Bytes{200, 100, 50}));
}

TEST(Decode, LooksPalettesUp) {
  const Bytes palette{0, 0, 0, 9, 8, 7, 255, 254, 253};
  const Image image = decoded(test::png_file(3, {{2, 1, 0}}, {8, 3}, palette));
  EXPECT_EQ(image.pixels, (Bytes{255, 254, 253, 9, 8, 7, 0, 0, 0}));
}

TEST(Decode, SpreadsFewBitsOverTheWholeRange) {
  EXPECT_EQ(decoded(test::png_file(2, {{0x80}}, {1, 0})).pixels, (Bytes{255, 255, 255, 0, 0, 0}));
  EXPECT_EQ(decoded(test::png_file(2, {{0x5f}}, {4, 0})).pixels,
            (Bytes{85, 85, 85, 255, 255, 255}));
}

TEST(Decode, KeepsTheUpperByteOfSixteenBits) {
  const Image grey = decoded(test::png_file(2, {{0x12, 0xff, 0xfe, 0x00}}, {16, 0}));
  EXPECT_EQ(grey.pixels, (Bytes{0x12, 0x12, 0x12, 0xfe, 0xfe, 0xfe}));
  const Image colour = decoded(test::png_file(1, {{1, 255, 2, 128, 3, 0}}, {16, 2}));
  EXPECT_EQ(colour.pixels, (Bytes{1, 2, 3}));
  const cv::Mat deep(1, 1, CV_16UC3, cv::Scalar(0x03ff, 0x0280, 0x0100));
  EXPECT_EQ(decoded(encode(deep, ".tiff")).pixels, (Bytes{1, 2, 3}));
}

TEST(Decode, TurnsEveryFormatAsItsOrientationSays) {
  const Image image = noise(16, 24);
  const cv::Mat mat = to_mat(image);
  const Bytes jpeg = encode(mat, ".jpg"), png = encode(mat, ".png");
  const Bytes webp = encode(mat, ".webp", kLosslessWebp);
  const Image from_jpeg = decoded(jpeg);
  for (int orientation = 1; orientation <= 8; ++orientation)
    for (const bool big_endian : {false, true}) {
      const auto value = static_cast<unsigned>(orientation);
      const Bytes exif = test::exif_block(value, big_endian);
      const Image expected = naively_oriented(image, orientation);
      const Bytes turned_jpeg = test::with_jpeg_exif(jpeg, exif);
      const Bytes turned_png = test::with_png_chunk(png, "eXIf", exif);
      const Bytes turned_webp = test::with_webp_exif(webp, 16, 24, exif);
      const Bytes turned_tiff = test::tiff_file(image.pixels, 16, 24, 3, {{274, value}});

      const Image upright = decoded(turned_jpeg);
      EXPECT_EQ(upright.width, expected.width) << orientation;
      EXPECT_EQ(upright.pixels, naively_oriented(from_jpeg, orientation).pixels) << orientation;
      EXPECT_EQ(decoded(turned_png).pixels, expected.pixels) << orientation;
      EXPECT_EQ(decoded(turned_webp).pixels, expected.pixels) << orientation;
      EXPECT_EQ(decoded(turned_tiff).pixels, expected.pixels) << orientation;

      EXPECT_EQ(decoded(turned_jpeg, Exif::kIgnore).pixels, from_jpeg.pixels) << orientation;
      EXPECT_EQ(decoded(turned_png, Exif::kIgnore).pixels, image.pixels) << orientation;
      EXPECT_EQ(decoded(turned_webp, Exif::kIgnore).pixels, image.pixels) << orientation;
      EXPECT_EQ(decoded(turned_tiff, Exif::kIgnore).pixels, image.pixels) << orientation;
    }
}

TEST(Decode, IgnoresAnOrientationThatMakesNoSense) {
  const Bytes png = encode(to_mat(noise(4, 6)), ".png");
  for (const unsigned orientation : {0u, 9u, 65535u}) {
    const Bytes odd = test::with_png_chunk(png, "eXIf", test::exif_block(orientation, true));
    EXPECT_EQ(decoded(odd).pixels, decoded(png).pixels);
  }
  EXPECT_EQ(decoded(test::with_png_chunk(png, "eXIf", {'M', 'M'})).pixels, decoded(png).pixels);
}

std::vector<std::pair<std::string, Bytes>> one_of_each() {
  const cv::Mat mat = to_mat(noise(23, 17));
  return {{"JPEG", encode(mat, ".jpg")},
          {"JPEG", encode(mat, ".jpg", {cv::IMWRITE_JPEG_PROGRESSIVE, 1})},
          {"PNG", encode(mat, ".png")},
          {"WebP", encode(mat, ".webp")},
          {"WebP", encode(mat, ".webp", kLosslessWebp)},
          {"BMP", encode(mat, ".bmp")},
          {"TIFF", encode(mat, ".tiff")},
          {"TIFF", test::tiff_file(noise(23, 17).pixels, 23, 17, 3)}};
}

TEST(Decode, RefusesAFileThatIsCutShortWhereverTheCutIsAndPrintsNothing) {
  testing::internal::CaptureStderr();
  for (const auto& [format, file] : one_of_each()) {
    for (size_t size = 0; size < file.size(); ++size) {
      const Bytes part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
      const std::string message = decode_message(part);
      ASSERT_NE(message, "no error") << format << " of " << size << " of " << file.size();
      if (size == file.size() - 1 || size == file.size() / 2) {
        EXPECT_EQ(message, "test: this " + format + " is cut short: it ends after " +
                               std::to_string(size) + " bytes");
      }
    }
    EXPECT_EQ(decode_message(file), "no error");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Decode, AllowsBytesBehindTheImage) {
  for (const auto& [format, file] : one_of_each()) {
    Bytes longer = file;
    longer.insert(longer.end(), 100, 0xff);
    EXPECT_EQ(decoded(longer).pixels, decoded(file).pixels) << format;
  }
}

TEST(Decode, LeavesOutWhatMakesLibpngPrint) {
  const Bytes png = encode(to_mat(noise(4, 4)), ".png");
  testing::internal::CaptureStderr();
  EXPECT_EQ(decoded(test::with_png_chunk(png, "iCCP", {'x', 0, 0, 1, 2, 3})).pixels,
            decoded(png).pixels);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Decode, NamesTheChunkOfAPngThatIsDamaged) {
  Bytes png = encode(to_mat(noise(4, 4)), ".png");
  png[png.size() - 20] ^= 1;
  testing::internal::CaptureStderr();
  EXPECT_EQ(decode_message(png),
            "test: cannot read this PNG: the checksum of its IDAT chunk is wrong");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Decode, SaysWhatAFileLooksLikeThatIsNoImage) {
  const auto text_message = [](std::string_view text) {
    Bytes bytes;
    test::append(bytes, text);
    return decode_message(bytes);
  };
  const std::string start = "test: not a JPEG, PNG, WebP, BMP, TIFF, GIF, HEIC or AVIF image: ";
  EXPECT_EQ(text_message("<html>hello</html>\n"), start + "it starts like text");
  EXPECT_EQ(text_message("%PDF-1.4"),
            start + "it is a PDF document; save its pages as images: pdftoppm -png FILE out");
  EXPECT_EQ(text_message({"\0\0\0\x0cJXL \r\n\x87\n", 12}),
            start + "it is a JPEG XL image; convert it: djxl FILE out.png");
  EXPECT_EQ(text_message({"\0\0\0\x18"
                          "ftypcrx \0\0\0\1",
                          16}),
            start + "it is a camera's raw file; develop it: darktable-cli FILE out.jpg");
  EXPECT_EQ(text_message({"\0\0\0\x18"
                          "ftypisom\0\0\2\0",
                          16}),
            start + "it is a video; save a frame: ffmpeg -i FILE -frames:v 1 out.png");
  EXPECT_EQ(decode_message({0, 1, 2, 0xfe}), start + "it starts with the bytes 00 01 02 fe");
  EXPECT_EQ(text_message("BM is how this text begins"), start + "it starts like text");
  EXPECT_EQ(decode_message({}), "test: the file is empty");
}

TEST(Decode, TakesRibbons) {
  const Image ribbon = noise(30000, 10);
  EXPECT_EQ(decoded(encode(to_mat(ribbon), ".png")).pixels, ribbon.pixels);
  const Image jpeg = decoded(encode(to_mat(ribbon), ".jpg"));
  EXPECT_EQ(jpeg.width, 30000u);
  EXPECT_EQ(jpeg.height, 10u);
}

TEST(Decode, SurvivesDamageAnywhere) {
  testing::internal::CaptureStderr();  // libjpeg prints warnings about damage that it tolerates
  std::mt19937 random(11);
  for (const auto& [format, file] : one_of_each())
    for (size_t round = 0; round < 300; ++round) {
      Bytes damaged = file;
      const size_t near = round % 2 == 0 ? std::min<size_t>(damaged.size(), 80) : damaged.size();
      for (size_t i = 0; i < 1 + round % 5; ++i)
        damaged[random() % near] = static_cast<std::uint8_t>(random());
      try {
        decoded(damaged);
      } catch (const Error&) {
      }
    }
  testing::internal::GetCapturedStderr();
}

class ReadImage : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("vit_read_image_" + std::to_string(std::random_device{}()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const char* name, const Bytes& bytes) const {
    std::ofstream file(folder_ / name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return folder_ / name;
  }

  std::filesystem::path folder_;
};

TEST_F(ReadImage, ReadsWhatDecodeDoes) {
  const Image image = noise(9, 4);
  EXPECT_EQ(read_image(write("image.png", encode(to_mat(image), ".png"))).pixels, image.pixels);
}

TEST_F(ReadImage, SaysWhatIsWrongWithTheFile) {
  const std::filesystem::path missing = folder_ / "missing.jpg";
  EXPECT_EQ(message_of([&] { read_image(missing); }), missing.string() + ": no such file");
  EXPECT_EQ(message_of([&] { read_image(folder_); }),
            folder_.string() + ": is a folder, expected an image file");
  const std::filesystem::path empty = write("empty.jpg", {});
  EXPECT_EQ(message_of([&] { read_image(empty); }), empty.string() + ": the file is empty");
  const std::filesystem::path text = write("text.jpg", {'h', 'i', '\n'});
  EXPECT_THAT(message_of([&] { read_image(text); }), HasSubstr("it starts like text"));
}

TEST_F(ReadImage, ReadsEveryPhotograph) {
  const auto shelf = vit::test::shared() / "images/imagenet-100";
  if (!std::filesystem::is_directory(shelf)) GTEST_SKIP() << "no images at " << shelf;
  for (const auto& entry : std::filesystem::directory_iterator(shelf)) {
    const Image image = read_image(entry.path());
    EXPECT_EQ(image.pixels.size(), image.width * image.height * 3) << entry.path();
  }
}

}  // namespace
}  // namespace vit::patch
