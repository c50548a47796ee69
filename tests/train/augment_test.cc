#include "vit/train/augment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "patch/recipe.h"
#include "tests/train/small_run.h"
#include "vit/train/image_ops.h"

namespace vit::train {
namespace {

Image noise(size_t width, size_t height) {
  Random random({width, height});
  Image image{width, height, std::vector<std::uint8_t>(width * height * 3)};
  for (auto& value : image.pixels) value = static_cast<std::uint8_t>(random.below(256));
  return image;
}

Recipe recipe_for(size_t size) {
  Recipe recipe;
  recipe.resize_height = recipe.resize_width = recipe.crop_height = recipe.crop_width = size;
  return recipe;
}

constexpr Augmentation kNothing{
    .crop = CropKind::kNone, .flip = false, .operations = 0, .erase = 0.0};

TEST(Augment, WithNothingToDoIsTheRecipe) {
  const Image image = noise(40, 50);
  Recipe recipe = recipe_for(32);
  recipe.mean = {0.4f, 0.5f, 0.6f};
  const patch::Pixels expected = patch::apply_recipe(image, recipe);
  Matrix planes(3, 32 * 32);
  Random random({1});
  augment(image, recipe, kNothing, random, planes);
  for (size_t i = 0; i < planes.size(); ++i)
    ASSERT_NEAR(planes.data()[i], expected.planes.data()[i], 1e-6);
}

TEST(Augment, RepeatsItselfForTheSameKeysAndDiffersForOthers) {
  const Image image = noise(32, 32);
  const auto drawn = [&](std::uint64_t key) {
    Matrix planes(3, 32 * 32);
    Random random({key});
    augment(image, recipe_for(32), Augmentation{}, random, planes);
    return std::vector<float>(planes.data(), planes.data() + planes.size());
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
}

TEST(Augment, EveryKindStaysFiniteAndInRange) {
  for (const CropKind crop : {CropKind::kNone, CropKind::kPad, CropKind::kResized})
    for (std::uint64_t key = 0; key < 60; ++key) {
      const Image image = noise(1 + key, 61 - key);
      Matrix planes(3, 24 * 24);
      Random random({key});
      augment(image, recipe_for(24),
              {.crop = crop, .jitter = 0.4, .operations = 3, .magnitude = 1.0, .erase = 0.5},
              random, planes);
      for (size_t i = 0; i < planes.size(); ++i) {
        ASSERT_TRUE(std::isfinite(planes.data()[i]));
        ASSERT_LT(std::abs(planes.data()[i]), 7.0f);
      }
    }
}

/// The pixels of the images of an epoch, as a network reads them.
std::vector<float> patches_of(const data::Dataset& dataset, const BatchRule& rule,
                              std::uint64_t epoch) {
  const ModelConfig config = tiny_config();
  BatchMaker maker({dataset, recipe_for(16)}, config, rule);
  std::vector<Draw> all(dataset.train.size());
  for (size_t i = 0; i < all.size(); ++i) all[i].image = i;
  maker.make(all, epoch, nullptr);
  const ConstMatrixView patches = maker.patches(0, all.size());
  return {patches.data, patches.data + patches.rows * patches.cols};
}

TEST(Augment, AlternatingFlipsMirrorEveryImageInEveryOtherEpoch) {
  data::Dataset dataset = noisy_images(8), mirror = dataset;
  for (data::Sample& sample : mirror.train) flip(sample.image);
  BatchRule rule;
  rule.augmentation = kNothing;
  rule.alternate_flips = true;
  const auto plain = patches_of(dataset, rule, 0);
  rule.augmentation.flip = true;
  const auto first = patches_of(dataset, rule, 0), second = patches_of(dataset, rule, 1);
  EXPECT_EQ(patches_of(mirror, rule, 1), first);
  EXPECT_EQ(patches_of(mirror, rule, 0), second);
  EXPECT_EQ(patches_of(dataset, rule, 2), first);
  size_t begin_mirrored = 0;
  const size_t images = dataset.train.size(), size = first.size() / images;
  for (size_t i = 0; i < images; ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i * size),
               end = static_cast<std::ptrdiff_t>(at + size);
    begin_mirrored += !std::equal(first.begin() + at, first.begin() + end, plain.begin() + at);
  }
  // Four standard deviations of a fair coin.
  EXPECT_NEAR(static_cast<double>(begin_mirrored), 0.5 * static_cast<double>(images),
              2.0 * std::sqrt(static_cast<double>(images)));
}

TEST(ImageOps, NeutralOnesChangeNothing) {
  const Image image = noise(9, 7);
  EXPECT_EQ(rotate(image, 0.0).pixels, image.pixels);
  EXPECT_EQ(shear(image, 0.0, 0.0).pixels, image.pixels);
  EXPECT_EQ(translate(image, 0.0, 0.0).pixels, image.pixels);
  Image same = image;
  adjust_brightness(same, 1.0);
  adjust_contrast(same, 1.0);
  adjust_saturation(same, 1.0);
  adjust_sharpness(same, 1.0);
  posterize(same, 8);
  solarize(same, 256);
  EXPECT_EQ(same.pixels, image.pixels);
}

TEST(ImageOps, FlipTwiceAndAQuarterTurnFourTimesComeBack) {
  const Image image = noise(11, 11);
  Image flipped = image;
  flip(flipped);
  EXPECT_NE(flipped.pixels, image.pixels);
  flip(flipped);
  EXPECT_EQ(flipped.pixels, image.pixels);
  Image turned = image;
  for (int i = 0; i < 4; ++i) turned = rotate(turned, 90.0);
  EXPECT_EQ(turned.pixels, image.pixels);
}

TEST(ImageOps, StretchAndEqualizeUseTheWholeRange) {
  Image image{16, 1, std::vector<std::uint8_t>(48)};
  for (size_t i = 0; i < 48; ++i) image.pixels[i] = static_cast<std::uint8_t>(100 + i / 3);
  Image stretched = image, flat = image;
  stretch_contrast(stretched);
  EXPECT_EQ(stretched.pixels.front(), 0);
  EXPECT_EQ(stretched.pixels.back(), 255);
  equalize(flat);
  EXPECT_LT(flat.pixels.front(), 16);
  EXPECT_GT(flat.pixels.back(), 240);
}

TEST(Random, IsUniformNormalAndSymmetric) {
  Random random({3, 4});
  double sum = 0.0, squares = 0.0, beta = 0.0;
  constexpr int kCount = 20000;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    beta += random.symmetric_beta(0.4);
  }
  // Four standard deviations of each mean.
  EXPECT_NEAR(sum / kCount, 0.0, 4.0 / std::sqrt(kCount));
  EXPECT_NEAR(squares / kCount, 1.0, 4.0 * std::sqrt(2.0 / kCount));
  EXPECT_NEAR(beta / kCount, 0.5, 4.0 * 0.4 / std::sqrt(kCount));
}

}  // namespace
}  // namespace vit::train
