// JPEG and PNG are decoded without OpenCV, but with the same libraries that it uses: every byte
// must be the same.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <random>

#include "patch/image/codecs.h"
#include "patch/image/image.h"
#include "tests/patch/image_files.h"
#include "tests/patch/images.h"
#include "tests/support/paths.h"
#include "vit/base/error.h"

namespace vit::patch {
namespace {

using test::Bytes;

/// As OpenCV decodes it, red first; empty where it cannot.
Image opencv_decoded(const Bytes& bytes) {
  const cv::Mat mat = cv::imdecode(bytes, cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION);
  Image image{static_cast<size_t>(mat.cols), static_cast<size_t>(mat.rows), {}};
  for (size_t i = 0; i < mat.total() * 3; ++i)
    image.pixels.push_back(mat.data[i / 3 * 3 + 2 - i % 3]);
  return image;
}

void expect_same(const Bytes& bytes, const std::string& what) {
  const Image expected = opencv_decoded(bytes);
  const Image found = decode(std::as_bytes(std::span(bytes)), what, Exif::kIgnore);
  ASSERT_FALSE(expected.pixels.empty()) << what;
  EXPECT_EQ(found.width, expected.width) << what;
  EXPECT_TRUE(found.pixels == expected.pixels) << what;
}

/// Smooth with edges, so that subsampling and prediction matter.
cv::Mat scene(int width, int height, int type) {
  cv::Mat mat(height, width, type);
  std::mt19937 random(static_cast<unsigned>(width * 1000 + height));
  const int channels = mat.channels();
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) {
        const int value = (x * (3 + c) + y * 5 + (x > y ? 60 : 0) + static_cast<int>(random() % 9));
        if (mat.depth() == CV_16U)
          mat.ptr<std::uint16_t>(y)[x * channels + c] = static_cast<std::uint16_t>(value * 211);
        else
          mat.ptr(y)[x * channels + c] = static_cast<std::uint8_t>(value);
      }
  return mat;
}

Bytes encoded(const cv::Mat& mat, const char* ending, const std::vector<int>& settings = {}) {
  Bytes bytes;
  EXPECT_TRUE(cv::imencode(ending, mat, bytes, settings));
  return bytes;
}

TEST(Decoders, JpegsHaveTheBytesOfOpenCv) {
  for (const auto& [width, height] : {std::pair{64, 48}, {17, 9}, {1, 1}, {300, 7}, {8, 301}})
    for (const int type : {CV_8UC1, CV_8UC3})
      for (const int quality : {5, 75, 100})
        for (const int progressive : {0, 1})
          expect_same(encoded(scene(width, height, type), ".jpg",
                              {cv::IMWRITE_JPEG_QUALITY, quality, cv::IMWRITE_JPEG_PROGRESSIVE,
                               progressive, cv::IMWRITE_JPEG_RST_INTERVAL, progressive * 3}),
                      std::to_string(width) + "x" + std::to_string(height) + " quality " +
                          std::to_string(quality));
}

TEST(Decoders, CmykJpegsHaveTheBytesOfOpenCv) {
  for (int ink = 0; ink < 256; ink += 5) {
    const auto value = static_cast<std::uint8_t>(ink);
    expect_same(test::flat_jpeg({value, static_cast<std::uint8_t>(255 - ink), 100,
                                 static_cast<std::uint8_t>(ink / 2 + 90)}),
                "ink " + std::to_string(ink));
  }
}

TEST(Decoders, PngsOfEveryKindHaveTheBytesOfOpenCv) {
  for (const int type : {CV_8UC1, CV_8UC3, CV_8UC4, CV_16UC1, CV_16UC3, CV_16UC4})
    for (const auto& [width, height] : {std::pair{64, 48}, {17, 9}, {1, 1}})
      for (const int level : {0, 9})
        expect_same(
            encoded(scene(width, height, type), ".png", {cv::IMWRITE_PNG_COMPRESSION, level}),
            "type " + std::to_string(type));
  const Bytes row{0x1b, 0xe4};
  for (const std::uint8_t bits : Bytes{1, 2, 4, 8})
    expect_same(test::png_file(16u / bits, {row, row}, {bits, 0}), "grey of few bits");
  const Bytes palette{0, 0, 0, 9, 8, 7, 255, 254, 253, 1, 2, 3};
  for (const std::uint8_t bits : Bytes{1, 2})
    expect_same(test::png_file(16u / bits, {row, row}, {bits, 3}, palette), "palette");
}

TEST(Decoders, EveryPhotographAtHandHasTheBytesOfOpenCv) {
  const auto shelf = vit::test::shared() / "images/imagenet-100";
  if (!std::filesystem::is_directory(shelf)) GTEST_SKIP() << "no images at " << shelf;
  for (const auto& entry : std::filesystem::directory_iterator(shelf)) {
    std::ifstream file(entry.path(), std::ios::binary);
    expect_same(Bytes(std::istreambuf_iterator<char>(file), {}), entry.path().string());
  }
}

/// What libjpeg and libpng accept of a damaged file, and what they make of it.
TEST(Decoders, TreatDamageAsOpenCvDoesAndPrintNothing) {
  std::mt19937 random(5);
  const std::array files{
      encoded(scene(40, 30, CV_8UC3), ".jpg"),
      encoded(scene(40, 30, CV_8UC3), ".jpg", {cv::IMWRITE_JPEG_PROGRESSIVE, 1})};
  size_t decoded = 0;
  for (size_t round = 0; round < 200; ++round) {
    Bytes damaged = files[round % files.size()];
    const size_t at = damaged.size() / 2 + random() % (damaged.size() / 2 - 2);
    damaged[at] = static_cast<std::uint8_t>(random() % 255);  // 255 would begin a marker
    testing::internal::CaptureStderr();
    Image found;
    try {
      found = decode(std::as_bytes(std::span(damaged)), "damaged");
      ++decoded;
    } catch (const Error&) {
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    testing::internal::CaptureStderr();
    const Image expected = opencv_decoded(damaged);
    testing::internal::GetCapturedStderr();
    EXPECT_TRUE(found.pixels == expected.pixels) << "round " << round;
  }
  EXPECT_GT(decoded, 100u);
}

TEST(Codecs, WritePicturesThatReadBackAsTheyWere) {
  const Image image = test::noise(31, 17);
  const Bytes png = encoders().encode(image, ".png");
  EXPECT_EQ(decode(std::as_bytes(std::span(png)), "png").pixels, image.pixels);
  EXPECT_FALSE(encoders().encode(image, ".jpg").empty());
  EXPECT_TRUE(encoders().encode(image, ".nothing").empty());
}

}  // namespace
}  // namespace vit::patch
