#include "patch/resample.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/patch/images.h"
#include "tests/support/paths.h"
#include "vit/base/error.h"

namespace vit::patch {
namespace {

using test::crop;
using test::flat;
using test::noise;

constexpr Interpolation kAll[] = {Interpolation::kNearest, Interpolation::kBox,
                                  Interpolation::kBilinear, Interpolation::kBicubic,
                                  Interpolation::kLanczos};

TEST(Resize, EqualsPillowToTheByte) {
  const std::filesystem::path folder = vit::test::goldens() / "pillow_resize";
  const Image source = read_image(folder / "src.png");
  size_t compared = 0;
  for (const Interpolation interpolation : kAll)
    for (const auto& [width, height] :
         {std::pair{7, 5}, {31, 97}, {64, 64}, {157, 60}, {224, 161}, {300, 300}}) {
      const std::string name = std::string(to_string(interpolation)) + '_' + std::to_string(width) +
                               'x' + std::to_string(height) + ".png";
      const Image expected = read_image(folder / name);
      const Image resized =
          resize(source, static_cast<size_t>(width), static_cast<size_t>(height), interpolation);
      EXPECT_EQ(resized.pixels, expected.pixels) << name;
      ++compared;
    }
  EXPECT_EQ(compared, 30u);
}

TEST(Resize, ToTheSameSizeChangesNothing) {
  const Image image = noise(37, 23);
  for (const Interpolation interpolation : kAll)
    EXPECT_EQ(resize(image, 37, 23, interpolation).pixels, image.pixels)
        << to_string(interpolation);
}

TEST(Resize, KeepsAFlatColour) {
  for (const Interpolation interpolation : kAll)
    for (const std::uint8_t value : std::initializer_list<std::uint8_t>{0, 1, 127, 254, 255})
      EXPECT_EQ(resize(flat(50, 41, value), 17, 90, interpolation).pixels,
                flat(17, 90, value).pixels)
          << to_string(interpolation);
}

TEST(Resize, OneOfTwoDirectionsAloneEqualsBothInTurn) {
  const Image image = noise(61, 47);
  for (const Interpolation interpolation : kAll) {
    const Image narrow = resize(image, 20, 47, interpolation);
    EXPECT_EQ(resize(narrow, 20, 90, interpolation).pixels,
              resize(image, 20, 90, interpolation).pixels)
        << to_string(interpolation);
  }
}

TEST(ResizeWindow, EqualsResizeAndCrop) {
  std::mt19937 random(7);
  const auto below = [&random](size_t limit) { return random() % limit; };
  for (size_t round = 0; round < 200; ++round) {
    const Image image = noise(1 + below(90), 1 + below(90), static_cast<unsigned>(round));
    const size_t width = below(5) ? 1 + below(150) : image.width;
    const size_t height = below(5) ? 1 + below(150) : image.height;
    const size_t x = below(width), y = below(height);
    const size_t window_width = 1 + below(width - x), window_height = 1 + below(height - y);
    const Interpolation interpolation = kAll[round % std::size(kAll)];
    const Image whole = resize(image, width, height, interpolation);
    const Image window =
        resize_window(image, {width, height, x, y, window_width, window_height}, interpolation);
    ASSERT_EQ(window.pixels, crop(whole, x, y, window_width, window_height).pixels)
        << image.width << 'x' << image.height << " to " << width << 'x' << height << ' '
        << to_string(interpolation);
  }
}

TEST(ResizeWindow, ReusedScratchChangesNothing) {
  ResampleScratch scratch;
  Image resized;
  for (const size_t edge : {90, 5, 33}) {
    const Image image = noise(edge, edge + 3);
    resize_window(image, {40, 30, 2, 3, 20, 10}, Interpolation::kBicubic, {scratch, active_isa()},
                  resized);
    EXPECT_EQ(resized.pixels,
              resize_window(image, {40, 30, 2, 3, 20, 10}, Interpolation::kBicubic).pixels);
  }
}

TEST(ResizeWindow, GivesTheSameBytesOnEveryInstructionSet) {
  const Image image = noise(123, 77);
  const ResizeWindow window{
      .resized_width = 60, .resized_height = 91, .x = 3, .y = 5, .width = 50, .height = 80};
  for (const Interpolation interpolation : kAll) {
    const Image expected = resize_window(image, window, interpolation, Isa::kBaseline);
    for (const Isa isa : available_isas())
      EXPECT_EQ(resize_window(image, window, interpolation, isa).pixels, expected.pixels)
          << to_string(interpolation) << ' ' << to_string(isa);
  }
}

TEST(ResizeWindow, OfAnEnormousImageCostsTheWindowAlone) {
  const Image ribbon = flat(30000, 10, 77);
  for (const Interpolation interpolation : kAll)
    EXPECT_EQ(resize_window(ribbon, {744000, 248, 371888, 12, 224, 224}, interpolation).pixels,
              flat(224, 224, 77).pixels);
}

TEST(Resize, OnePixelFillsAnything) {
  for (const Interpolation interpolation : kAll)
    EXPECT_EQ(resize(flat(1, 1, 200), 19, 33, interpolation).pixels, flat(19, 33, 200).pixels);
}

TEST(Resize, RefusesNothing) {
  EXPECT_THROW(resize(Image{}, 4, 4, Interpolation::kBox), Error);
  EXPECT_THROW(resize(flat(2, 2, 0), 0, 4, Interpolation::kBox), Error);
}

}  // namespace
}  // namespace vit::patch
