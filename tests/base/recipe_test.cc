#include "vit/base/recipe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "vit/base/error.h"

namespace vit {
namespace {

TEST(Recipe, DescribesItselfInOneLine) {
  EXPECT_EQ(describe(Recipe{}),
            "short edge to 248 (bicubic), centre crop 224x224, mean 0.5 std 0.5");
  const Recipe border{.resize = ResizeMode::kBorder,
                      .resize_height = 71,
                      .resize_width = 106,
                      .interpolation = Interpolation::kBilinear,
                      .crop_height = 64,
                      .crop_width = 96,
                      .mean = {0.485f, 0.456f, 0.406f},
                      .std = {0.229f, 0.224f, 0.225f}};
  EXPECT_EQ(describe(border),
            "long edge to 71x106 (bilinear), centre crop 64x96, "
            "mean 0.485 0.456 0.406 std 0.229 0.224 0.225");
  EXPECT_EQ(describe(Recipe{.resize = ResizeMode::kNone}),
            "no resize, centre crop 224x224, mean 0.5 std 0.5");
}

TEST(Recipe, ScalesByTheCropFractionLikeTimm) {
  Recipe recipe;  // 248 is the floor of 224 / 0.9
  recipe.crop_fraction = 0.9;
  const Recipe larger = scaled_to(recipe, 384, 288);
  EXPECT_EQ(larger.resize_height, 426u);
  EXPECT_EQ(larger.resize_width, 320u);
  EXPECT_EQ(larger.crop_height, 384u);
  EXPECT_EQ(larger.crop_width, 288u);
}

TEST(Recipe, ScalesByTheRatioOfItsSizesWhereNoFractionIsKnown) {
  const Recipe larger = scaled_to(Recipe{.resize_height = 256, .resize_width = 256}, 384, 384);
  EXPECT_EQ(larger.resize_height, 438u);  // 438.86
  const Recipe whole = scaled_to(Recipe{.resize_height = 224, .resize_width = 224}, 518, 518);
  EXPECT_EQ(whole.resize_height, 518u);
}

TEST(Recipe, ScaledToItsOwnSizeIsItself) {
  EXPECT_EQ(scaled_to(Recipe{}, 224, 224), Recipe{});
  Recipe timm;
  timm.crop_fraction = 0.9;
  EXPECT_EQ(scaled_to(timm, 224, 224), timm);
}

TEST(Recipe, RefusesASizeOfZero) {
  EXPECT_THROW(scaled_to(Recipe{}, 0, 224), Error);
}

TEST(Recipe, NamesTheFieldThatNoImageCanBePreparedWith) {
  const auto complaint = [](const auto& change) {
    Recipe recipe;
    change(recipe);
    try {
      validate(recipe, "m");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(complaint([](Recipe&) {}), "");
  EXPECT_EQ(complaint([](Recipe& r) { r.mean[1] = NAN; }),
            "m: the recipe's mean[1] is nan, expected a finite number");
  EXPECT_EQ(complaint([](Recipe& r) { r.std[2] = INFINITY; }),
            "m: the recipe's std[2] is inf, expected a finite number");
  EXPECT_EQ(complaint([](Recipe& r) { r.std[0] = 0.0f; }),
            "m: the recipe's std[0] is 0, expected a positive number");
  EXPECT_EQ(complaint([](Recipe& r) { r.crop_fraction = -1.0; }),
            "m: the recipe's crop fraction is -1, expected a finite number from 0");
  EXPECT_EQ(complaint([](Recipe& r) { r.resize_width = size_t{1} << 40; }),
            "m: the recipe has an edge of 1099511627776 pixels, expected 1 to 1048576");
}

}  // namespace
}  // namespace vit
