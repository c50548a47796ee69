// HEIC and AVIF. The good files are written by libheif, where it has an encoder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libheif/heif.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>

#include "patch/image/image.h"
#include "tests/patch/decoded.h"
#include "tests/patch/heif_encoder.h"
#include "tests/patch/heif_files.h"
#include "tests/patch/images.h"
#include "tests/support/peak_memory.h"
#include "vit/base/error.h"

namespace vit::patch {
namespace {

using test::Bytes;
using test::decoded;
using test::message;
using testing::StartsWith;
using vit::test::peak_megabytes;

/// Four flat quarters of different colours, so that every turn shows.
Image quarters(size_t width, size_t height) {
  Image image = test::flat(width, height, 0);
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width; ++x) {
      std::uint8_t* pixel = image.row(y) + 3 * x;
      pixel[0] = y < height / 2 ? 220 : 30;
      pixel[1] = x < width / 2 ? 200 : 50;
      pixel[2] = y < height / 2 && x < width / 2 ? 180 : 60;
    }
  return image;
}

/// The brightness of red and of green in the middle of a quarter: 1 for bright ones.
std::pair<int, int> quarter(const Image& image, size_t column, size_t row) {
  const std::uint8_t* pixel =
      image.row(image.height * (2 * row + 1) / 4) + 3 * (image.width * (2 * column + 1) / 4);
  return {pixel[0] > 128, pixel[1] > 128};
}

class Heif : public testing::TestWithParam<heif_compression_format> {
 protected:
  static bool avif() { return GetParam() == heif_compression_AV1; }
  static std::string name() { return avif() ? "AVIF" : "HEIC"; }
  static Bytes file(const Image& image, int orientation = 1) {
    return test::encoded_heif(image, GetParam(), orientation);
  }
  void SetUp() override {
    if (file(test::flat(64, 64, 9)).empty())
      GTEST_SKIP() << "this libheif has no encoder for " << name();
  }
};

INSTANTIATE_TEST_SUITE_P(Formats, Heif,
                         testing::Values(heif_compression_HEVC, heif_compression_AV1),
                         [](const auto& tested) {
                           return tested.param == heif_compression_AV1 ? "Avif" : "Heic";
                         });

TEST_P(Heif, IsReadAsItWasWritten) {
  const Image image = quarters(96, 64), read = decoded(file(image));
  ASSERT_EQ(read.width, 96u);
  ASSERT_EQ(read.height, 64u);
  ASSERT_EQ(read.pixels.size(), image.pixels.size());
  EXPECT_EQ(read.damage, "");
  double difference = 0;
  for (size_t i = 0; i < image.pixels.size(); ++i)
    difference += std::abs(int{image.pixels[i]} - int{read.pixels[i]});
  EXPECT_LT(difference / static_cast<double>(image.pixels.size()), 6.0);
}

TEST_P(Heif, IsTurnedOnce) {
  const Image image = quarters(96, 64);
  using Quarters = std::array<std::pair<int, int>, 4>;
  // Of the quarters above left, above right, below left, below right.
  const std::map<int, Quarters> expected{{1, {{{1, 1}, {1, 0}, {0, 1}, {0, 0}}}},
                                         {3, {{{0, 0}, {0, 1}, {1, 0}, {1, 1}}}},
                                         {6, {{{0, 1}, {1, 1}, {0, 0}, {1, 0}}}},
                                         {8, {{{1, 0}, {0, 0}, {1, 1}, {0, 1}}}}};
  for (const auto& [orientation, places] : expected) {
    const Image read = decoded(file(image, orientation));
    EXPECT_EQ(read.width, orientation >= 5 ? 64u : 96u) << orientation;
    EXPECT_EQ(read.height, orientation >= 5 ? 96u : 64u) << orientation;
    for (size_t i = 0; i < 4; ++i)
      EXPECT_EQ(quarter(read, i % 2, i / 2), places[i]) << orientation << ", quarter " << i;
  }
}

TEST_P(Heif, AFileThatIsCutShortIsRefusedWhereverItEnds) {
  const Bytes whole = file(quarters(96, 64));
  for (size_t length = 64; length < whole.size(); length += 7) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_EQ(message(cut), "test: this " + name() + " is cut short: it ends after " +
                                std::to_string(length) + " bytes");
  }
}

TEST_P(Heif, SurvivesDamageAnywhere) {
  const Bytes whole = file(test::noise(64, 64));
  std::mt19937 random(5);
  for (size_t round = 0; round < 150; ++round) {
    Bytes damaged = whole;
    for (size_t i = 0; i < 1 + round % 4; ++i)
      damaged[random() % damaged.size()] = static_cast<std::uint8_t>(random());
    try {
      const Image image = decoded(damaged);
      EXPECT_EQ(image.pixels.size(), image.width * image.height * 3);
    } catch (const Error&) {
    }
  }
}

TEST_P(Heif, AnImageBeyondTheLimitIsRefusedBeforeItIsDecoded) {
  DecodeOptions options;
  options.max_pixels = 96 * 64 - 1;
  EXPECT_THAT(message(file(quarters(96, 64)), options),
              StartsWith("test: the image is too large: 96x64 are 6144 pixels, the limit is 6143"));
}

TEST(HeifHeader, ASizeThatTheDataCannotHoldIsRefused) {
  for (const auto& [brand, name] : {std::pair{"heic", "HEIC"}, {"avif", "AVIF"}}) {
    std::string text;
    const Bytes file = test::heif_file(20000, 20000, Bytes(100, 0), brand);
    EXPECT_LT(peak_megabytes([&] { text = message(file); }), 20u);
    EXPECT_EQ(text, "test: damaged " + std::string(name) +
                        ": its header gives a size of 20000x20000, but its data is too short for "
                        "that");
  }
}

TEST(HeifHeader, APlausibleSizeWithoutPixelsCostsLittle) {
  std::string text;
  const Bytes file = test::heif_file(20000, 20000, Bytes(60000, 0x55));
  EXPECT_LT(peak_megabytes([&] { text = message(file); }), 60u);
  EXPECT_THAT(text, StartsWith("test: cannot decode this HEIC: libheif: "));
}

TEST(HeifHeader, WithoutASizeItIsDamaged) {
  const Bytes kind = test::heif_box("ftyp", {'h', 'e', 'i', 'c', 0, 0, 0, 0});
  Bytes file = kind;
  test::append(file, test::heif_box("meta", Bytes(4, 0)));
  EXPECT_EQ(message(kind), "test: this HEIC is cut short: it ends after 16 bytes");
  EXPECT_EQ(message(file), "test: this HEIC is cut short: it ends after 28 bytes");
  test::append(file, test::heif_box("mdat", Bytes(9, 1)));
  EXPECT_EQ(message(file), "test: this HEIC is cut short: it ends after 45 bytes");
  EXPECT_EQ(message(test::heif_file(0, 5, {1})),
            "test: damaged HEIC: its header gives a size of 0x5");
}

/// In a process of another user, which may start no thread.
TEST_P(Heif, EndsWhereNoThreadCanBeStarted) {
  if (geteuid() != 0) GTEST_SKIP() << "cannot become another user here";
  const Bytes bytes = file(quarters(96, 64));
  decoded(bytes);  // loads the libraries
  const pid_t child = fork();
  if (child == 0) {
    constexpr rlimit kNone{1, 1};
    constexpr uid_t kUser = 64'323;
    constexpr unsigned kPatience = 120;  // s
    alarm(kPatience);
    if (setuid(kUser) != 0 || setrlimit(RLIMIT_NPROC, &kNone) != 0) _exit(2);
    _exit(message(bytes).find("no thread can be started") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "it had to be ended";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace vit::patch
