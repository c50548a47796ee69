// Damage that a decoder tolerates is reported with the image; quirks of ordinary files are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <opencv2/imgcodecs.hpp>

#include "patch/image/image.h"
#include "tests/patch/hostile_files.h"
#include "tests/patch/images.h"
#include "tests/support/paths.h"
#include "vit/base/error.h"

namespace vit::patch {
namespace {

using test::Bytes;
using testing::StartsWith;

/// A photograph's statistics: smooth areas, edges and a little noise.
Bytes photograph(const std::vector<int>& settings = {}) {
  cv::Mat mat(480, 640, CV_8UC3);
  const Image noise = test::noise(640, 480);
  for (int y = 0; y < mat.rows; ++y)
    for (int x = 0; x < mat.cols; ++x)
      for (int c = 0; c < 3; ++c) {
        const int value = (x * (c + 2) + y * 3) / 16 % 128 + ((x / 40 + y / 30) % 2 != 0 ? 80 : 0);
        const size_t at = static_cast<size_t>(y * mat.cols + x) * 3;
        mat.ptr(y)[3 * x + c] = static_cast<std::uint8_t>(value + noise.pixels[at] % 24);
      }
  Bytes bytes;
  EXPECT_TRUE(cv::imencode(".jpg", mat, bytes, settings));
  return bytes;
}

std::string damage_of(const Bytes& bytes) {
  const Image image = decode(std::as_bytes(std::span(bytes)), "test");
  EXPECT_EQ(image.pixels.size(), image.width * image.height * 3);
  return image.damage;
}

const std::vector<int> kProgressive{cv::IMWRITE_JPEG_PROGRESSIVE, 1};
const std::vector<int> kRestarts{cv::IMWRITE_JPEG_RST_INTERVAL, 40};

std::ptrdiff_t part(const Bytes& bytes, size_t sixteenths) {
  return static_cast<std::ptrdiff_t>(bytes.size() * sixteenths / 16);
}

TEST(Damage, WholeFilesHaveNone) {
  for (const auto& settings : {std::vector<int>{}, kProgressive, kRestarts})
    EXPECT_EQ(damage_of(photograph(settings)), "");
  EXPECT_EQ(damage_of(test::flat_jpeg({1, 2, 3})), "");
  EXPECT_EQ(damage_of(test::flat_jpeg({1, 2, 3, 4})), "");
  EXPECT_EQ(damage_of(test::png_file(1, {{1, 2, 3}}, {8, 2})), "");
}

TEST(Damage, BytesThatCamerasWriteAfterTheImageAreNoDamage) {
  const Bytes whole = photograph();
  Bytes trailing = whole;
  trailing.insert(trailing.end(), 5000, 0);
  EXPECT_EQ(damage_of(trailing), "");
  for (const std::uint8_t filler : Bytes{0x00, 0xff, 0x5a}) {
    Bytes padded(whole.begin(), whole.end() - 2);
    padded.insert(padded.end(), 12, filler);
    test::append(padded, Bytes{0xff, 0xd9});
    EXPECT_EQ(damage_of(padded), "") << int{filler};
  }
}

TEST(Damage, AJpegThatEndsEarlyStatesHowMuchIsPresent) {
  const Bytes whole = photograph();
  Bytes half(whole.begin(), whole.begin() + part(whole, 8));
  if (half.back() == 0xff) half.pop_back();
  test::append(half, Bytes{0xff, 0xd9});
  EXPECT_EQ(damage_of(half), "the data ends after 50 % of the rows, the rest is grey");
  const Bytes scans = photograph(kProgressive);
  half.assign(scans.begin(), scans.begin() + part(scans, 14));
  if (half.back() == 0xff) half.pop_back();
  test::append(half, Bytes{0xff, 0xd9});
  EXPECT_THAT(damage_of(half), testing::MatchesRegex("the data of scan [0-9]+ ends early"));
}

TEST(Damage, AStrayMarkerIsNamed) {
  Bytes file = photograph();
  file.insert(file.begin() + part(file, 10), {0xff, 0x4f});
  EXPECT_THAT(damage_of(file), StartsWith("a stray marker ends the data after "));
  file = photograph(kRestarts);
  file.insert(file.begin() + part(file, 4), {0xff, 0x4f});
  EXPECT_NE(damage_of(file), "");
}

TEST(Damage, RestartMarkersDoNotMakeUpForAnEndInTheUpperHalf) {
  const Bytes whole = photograph(kRestarts);
  const auto cut = [&](size_t sixteenths, const Bytes& end) {
    Bytes file(whole.begin(), whole.begin() + part(whole, sixteenths));
    if (file.back() == 0xff) file.pop_back();
    test::append(file, end);
    return file;
  };
  const Bytes stray{0xff, 0x4f, 0, 0, 0xff, 0xd9};  // decoders look for the next marker behind it
  for (const Bytes& end : {Bytes{0xff, 0xd9}, stray}) {
    EXPECT_NE(damage_of(cut(12, end)), "");
    EXPECT_THROW(damage_of(cut(4, end)), Error);
  }
}

TEST(Damage, SectorsOfZerosAreNoticed) {
  const Bytes whole = photograph();
  for (const size_t place : {3u, 6u, 9u, 12u}) {
    Bytes file = whole;
    std::fill_n(file.begin() + part(file, place), 4096, std::uint8_t{0});
    EXPECT_NE(damage_of(file), "") << place;
  }
}

TEST(Damage, AMissingRestartMarkerIsNoticed) {
  Bytes file = photograph(kRestarts);
  for (size_t at = file.size() / 2; at + 1 < file.size(); ++at)
    if (file[at] == 0xff && file[at + 1] >= 0xd0 && file[at + 1] <= 0xd7) {
      file.erase(file.begin() + static_cast<std::ptrdiff_t>(at) - 60,
                 file.begin() + static_cast<std::ptrdiff_t>(at) + 2);
      break;
    }
  EXPECT_NE(damage_of(file), "");
}

TEST(Damage, PixelsThatARunLengthBmpLeavesOutAreNoticed) {
  const Bytes palette{1, 2, 3, 0, 4, 5, 6, 0};
  EXPECT_EQ(damage_of(test::bmp_file(4, 2, {8, 1, 40}, palette, {4, 1, 0, 0, 4, 0, 0, 1})), "");
  EXPECT_EQ(damage_of(test::bmp_file(4, 2, {8, 1, 40}, palette, {4, 1, 0, 1})),
            "50 % of the pixels are missing");
}

TEST(Damage, ATiffStripThatIsShorterThanItsPixelsIsNoticed) {
  const Bytes pixels(40 * 30 * 3, 99);
  const Bytes whole = test::tiff_file(pixels, 40, 30, 3);
  EXPECT_EQ(damage_of(whole), "");
  EXPECT_THAT(damage_of(test::with_tiff_value(whole, 279, 100)),
              testing::HasSubstr("Bogus \"StripByteCounts\" field"));
}

TEST(Damage, AJpegInATiffMayLackItsLowerHalf) {
  Bytes jpeg;
  const cv::Mat grey = cv::imdecode(photograph(), cv::IMREAD_GRAYSCALE);
  ASSERT_TRUE(cv::imencode(".jpg", grey, jpeg));
  EXPECT_EQ(damage_of(test::tiff_of_jpeg(jpeg, 640, 480)), "");
  jpeg.erase(jpeg.begin() + part(jpeg, 12), jpeg.end());
  if (jpeg.back() == 0xff) jpeg.pop_back();
  test::append(jpeg, Bytes{0xff, 0xd9});
  EXPECT_EQ(damage_of(test::tiff_of_jpeg(jpeg, 640, 480)),
            "JPEGLib: Corrupt JPEG data: premature end of data segment");
}

TEST(Damage, IsKeptWhenAnImageIsTurned) {
  const Bytes whole = photograph();
  Bytes half(whole.begin(), whole.begin() + part(whole, 8));
  if (half.back() == 0xff) half.pop_back();
  test::append(half, Bytes{0xff, 0xd9});
  EXPECT_NE(damage_of(test::with_jpeg_exif(half, test::exif_block(6, true))), "");
}

TEST(Damage, NoPhotographAtHandHasAny) {
  const auto shelf = vit::test::shared() / "images/imagenet-100";
  if (!std::filesystem::is_directory(shelf)) GTEST_SKIP() << "no images at " << shelf;
  for (const auto& entry : std::filesystem::directory_iterator(shelf))
    EXPECT_EQ(read_image(entry.path()).damage, "") << entry.path();
}

}  // namespace
}  // namespace vit::patch
