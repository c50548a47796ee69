#include "patch/recipe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/patch/images.h"
#include "tests/support/golden.h"
#include "tests/support/paths.h"
#include "vit/base/error.h"

namespace vit::patch {
namespace {

using test::crop;
using test::flat;
using test::noise;
using vit::test::GoldenTensor;
using vit::test::read_golden;
using vit::test::read_json;

Recipe with_colours(Recipe recipe, const nlohmann::json& mean, const nlohmann::json& std) {
  recipe.mean = mean.get<std::array<float, 3>>();
  recipe.std = std.get<std::array<float, 3>>();
  return recipe;
}

Recipe timm_recipe(const nlohmann::json& config) {
  const auto height = config.at("input_size").at(1).get<size_t>();
  const auto width = config.at("input_size").at(2).get<size_t>();
  const double part = config.at("crop_pct");
  Recipe recipe;
  recipe.resize = config.value("crop_mode", "center") == "border" ? ResizeMode::kBorder
                                                                  : ResizeMode::kShortEdge;
  recipe.resize_height = static_cast<size_t>(static_cast<double>(height) / part);
  recipe.resize_width = static_cast<size_t>(static_cast<double>(width) / part);
  recipe.crop_height = height;
  recipe.crop_width = width;
  EXPECT_EQ(config.at("interpolation"), "bicubic");
  return with_colours(recipe, config.at("mean"), config.at("std"));
}

Recipe hugging_face_recipe(const nlohmann::json& config) {
  Recipe recipe;
  recipe.interpolation =
      config.at("resample") == 2 ? Interpolation::kBilinear : Interpolation::kBicubic;
  const nlohmann::json& size = config.at("size");
  if (size.is_object() && size.contains("shortest_edge")) {
    recipe.resize_height = recipe.resize_width = size.at("shortest_edge");
    recipe.crop_height = config.at("crop_size").at("height");
    recipe.crop_width = config.at("crop_size").at("width");
  } else {
    recipe.resize = ResizeMode::kSquash;
    recipe.resize_height = recipe.crop_height = size.is_object() ? size.at("height") : size;
    recipe.resize_width = recipe.crop_width = size.is_object() ? size.at("width") : size;
  }
  return with_colours(recipe, config.at("image_mean"), config.at("image_std"));
}

Recipe recipe_of(const std::filesystem::path& folder) {
  const std::string name = folder.filename().string();
  if (std::filesystem::exists(folder / "preprocessor_config.json"))
    return hugging_face_recipe(read_json(folder / "preprocessor_config.json"));
  if (name == "jax_npz")
    return {.resize_height = 71, .resize_width = 71, .crop_height = 64, .crop_width = 64};
  if (name == "torchvision_pth")
    return {.resize_height = 73,
            .resize_width = 73,
            .interpolation = Interpolation::kBilinear,
            .crop_height = 64,
            .crop_width = 64,
            .mean = {0.485f, 0.456f, 0.406f},
            .std = {0.229f, 0.224f, 0.225f}};
  return timm_recipe(read_json(folder / "config.json").at("pretrained_cfg"));
}

TEST(ApplyRecipe, EqualsTheReferencePixelsOfEveryCase) {
  size_t cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(vit::test::goldens())) {
    if (!std::filesystem::exists(entry.path() / "expected.safetensors")) continue;
    const GoldenTensor expected = read_golden(entry.path() / "expected.safetensors").at("pixels");
    const Recipe recipe = recipe_of(entry.path());
    const Pixels pixels = apply_recipe(read_image(entry.path() / "image.png"), recipe);
    ASSERT_EQ(expected.shape, (std::vector<size_t>{1, 3, pixels.height, pixels.width}));
    size_t different = 0;
    for (size_t i = 0; i < expected.values.size(); ++i)
      different += pixels.planes.data()[i] != expected.values[i];
    EXPECT_EQ(different, 0u) << entry.path().filename() << ": " << describe(recipe);
    ++cases;
  }
  EXPECT_GE(cases, 19u);
}

TEST(ApplyRecipe, NormalisesInFloatLikeTorch) {
  Image image = flat(16, 16, 0);
  for (size_t i = 0; i < 256; ++i)
    for (size_t c = 0; c < 3; ++c) image.pixels[3 * i + c] = static_cast<std::uint8_t>(i);
  const Recipe recipe{.resize = ResizeMode::kNone,
                      .crop_height = 16,
                      .crop_width = 16,
                      .mean = {0.485f, 0.456f, 0.406f},
                      .std = {0.229f, 0.224f, 0.225f}};
  const Pixels pixels = apply_recipe(image, recipe);
  for (size_t c = 0; c < 3; ++c)
    for (size_t i = 0; i < 256; ++i) {
      volatile float value = static_cast<float>(i) / 255.0f;  // each step rounded to float
      value = value - recipe.mean[c];
      value = value / recipe.std[c];
      ASSERT_EQ(pixels.planes(c, i), value) << "channel " << c << " value " << i;
    }
}

Recipe short_edge(size_t edge, size_t crop_height, size_t crop_width) {
  return {.resize_height = edge,
          .resize_width = edge,
          .crop_height = crop_height,
          .crop_width = crop_width};
}

TEST(Place, ShortEdgeIsExactAndTheLongOneTruncated) {
  const Placement wide = place(500, 375, short_edge(248, 224, 224));
  EXPECT_EQ(wide.window.resized_width, 330u);  // 330.67
  EXPECT_EQ(wide.window.resized_height, 248u);
  const Placement tall = place(375, 500, short_edge(248, 224, 224));
  EXPECT_EQ(tall.window.resized_width, 248u);
  EXPECT_EQ(tall.window.resized_height, 330u);
}

TEST(Place, HalfAPixelOfOffsetGoesToTheEvenSide) {
  const Recipe recipe{.resize = ResizeMode::kNone, .crop_height = 10, .crop_width = 10};
  EXPECT_EQ(place(15, 13, recipe).window.x, 2u);  // 2.5
  EXPECT_EQ(place(15, 13, recipe).window.y, 2u);  // 1.5
}

TEST(Place, NonSquareTargetsScaleByOneRatioRoundedToTheNearest) {
  Recipe recipe{.resize_height = 71, .resize_width = 106, .crop_height = 64, .crop_width = 96};
  EXPECT_EQ(place(100, 76, recipe).window.resized_width, 106u);
  EXPECT_EQ(place(100, 76, recipe).window.resized_height, 81u);  // 76 / (100 / 106) = 80.56
  recipe.resize = ResizeMode::kBorder;
  EXPECT_EQ(place(100, 76, recipe).window.resized_width, 93u);  // 100 / (76 / 71) = 93.42
  EXPECT_EQ(place(100, 76, recipe).window.resized_height, 71u);
}

TEST(ApplyRecipe, PadsSmallImagesWithBlackAndTheOddPixelBelowAndRight) {
  const Recipe recipe{.resize = ResizeMode::kNone,
                      .crop_height = 4,
                      .crop_width = 5,
                      .mean = {0, 0, 0},
                      .std = {1, 1, 1}};
  const Pixels pixels = apply_recipe(flat(2, 1, 255), recipe);
  std::vector<float> expected(20, 0.0f);
  expected[1 * 5 + 1] = expected[1 * 5 + 2] = 1.0f;
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(pixels.planes(0, i), expected[i]) << i;
}

TEST(ApplyRecipe, PadsBordersWithTheRoundedMean) {
  const Recipe recipe{.resize = ResizeMode::kBorder,
                      .resize_height = 4,
                      .resize_width = 4,
                      .crop_height = 4,
                      .crop_width = 4,
                      .mean = {0.5f, 0.485f, 0.0f},
                      .std = {1, 1, 1}};
  const Pixels pixels = apply_recipe(flat(8, 4, 255), recipe);  // 4x2 in the middle of 4x4
  EXPECT_EQ(pixels.planes(0, 0), 128.0f / 255.0f - 0.5f);       // 127.5 goes to the even side
  EXPECT_EQ(pixels.planes(1, 0), 124.0f / 255.0f - 0.485f);     // 123.675
  EXPECT_EQ(pixels.planes(2, 0), 0.0f);
  EXPECT_EQ(pixels.planes(2, 4), 1.0f);
  EXPECT_EQ(pixels.planes(2, 11), 1.0f);
  EXPECT_EQ(pixels.planes(2, 12), 0.0f);
}

TEST(ApplyRecipe, EqualsResizeThenCropThenNormalise) {
  const Image image = noise(133, 77);
  const Recipe recipe = short_edge(61, 48, 50);
  const Image whole = resize(image, 105, 61, Interpolation::kBicubic);
  const Image part = crop(whole, 28, 6, 50, 48);  // 27.5 and 6.5, halves to even
  const Pixels pixels = apply_recipe(image, recipe);
  for (size_t i = 0; i < 50 * 48; ++i)
    for (size_t c = 0; c < 3; ++c)
      ASSERT_EQ(pixels.planes(c, i),
                (static_cast<float>(part.pixels[3 * i + c]) / 255 - 0.5f) / 0.5f);
}

TEST(ApplyRecipe, TakesRibbonsAndSinglePixels) {
  for (const ResizeMode mode :
       {ResizeMode::kShortEdge, ResizeMode::kSquash, ResizeMode::kBorder, ResizeMode::kNone})
    for (const auto& [width, height] : {std::pair{30000, 10}, {10, 30000}, {1, 1}}) {
      Recipe recipe;
      recipe.resize = mode;
      const Image image = flat(static_cast<size_t>(width), static_cast<size_t>(height), 255);
      const Pixels pixels = apply_recipe(image, recipe);
      EXPECT_EQ(pixels.planes(0, 111 * 224 + 111), 1.0f)
          << to_string(mode) << ' ' << width << 'x' << height;
    }
}

TEST(ApplyRecipe, SaysWhatIsWrongWithTheRecipe) {
  Recipe recipe;
  recipe.crop_width = 0;
  EXPECT_THROW(apply_recipe(flat(2, 2, 0), recipe), Error);
  recipe = {};
  recipe.std = {0.5f, 0.0f, 0.5f};
  EXPECT_THROW(apply_recipe(flat(2, 2, 0), recipe), Error);
  EXPECT_THROW(apply_recipe(Image{}, Recipe{}), Error);
}

}  // namespace
}  // namespace vit::patch
