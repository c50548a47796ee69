#include "patch/patchify.h"

#include <gtest/gtest.h>

#include "vit/base/error.h"

namespace vit::patch {
namespace {

/// A pixel's value says where it is: channel, row, column.
float value_at(size_t channel, size_t y, size_t x) {
  return static_cast<float>(channel * 10000 + y * 100 + x);
}

Pixels numbered(size_t height, size_t width) {
  Pixels pixels{height, width, Matrix(3, height * width)};
  for (size_t c = 0; c < 3; ++c)
    for (size_t i = 0; i < height * width; ++i)
      pixels.planes(c, i) = value_at(c, i / width, i % width);
  return pixels;
}

TEST(Patchify, OrdersPatchesByRowsAndTheirValuesLikeAConvolutionKernel) {
  for (const auto& [patch_height, patch_width] : {std::pair{2, 3}, {1, 1}, {4, 12}, {2, 4}}) {
    const auto ph = static_cast<size_t>(patch_height), pw = static_cast<size_t>(patch_width);
    const Pixels pixels = numbered(4, 12);
    const size_t cols = 12 / pw;
    Matrix patches(4 / ph * cols, 3 * ph * pw);
    patchify(pixels, ph, pw, patches);
    for (size_t n = 0; n < patches.rows(); ++n)
      for (size_t c = 0; c < 3; ++c)
        for (size_t y = 0; y < ph; ++y)
          for (size_t x = 0; x < pw; ++x)
            ASSERT_EQ(patches(n, (c * ph + y) * pw + x),
                      value_at(c, n / cols * ph + y, n % cols * pw + x));
  }
}

TEST(Patchify, WritesIntoAPartOfAWiderMatrix) {
  Matrix wide(2, 20);
  patchify(numbered(2, 4), 2, 2, wide.view().col_range(4, 12));
  EXPECT_EQ(wide(1, 3), 0.0f);
  EXPECT_EQ(wide(1, 4), value_at(0, 0, 2));
  EXPECT_EQ(wide(1, 15), value_at(2, 1, 3));
  EXPECT_EQ(wide(1, 16), 0.0f);
}

TEST(Patchify, LeavesOutTheRestAtTheRightAndBottom) {
  Matrix patches(2, 12);
  patchify(numbered(3, 5), 2, 2, patches);
  EXPECT_EQ(patches(0, 0), value_at(0, 0, 0));
  EXPECT_EQ(patches(1, 0), value_at(0, 0, 2));
  EXPECT_EQ(patches(1, 11), value_at(2, 1, 3));
}

TEST(PatchGrid, NamesTheNearestSizesWhenTheImageIsNoMultiple) {
  try {
    patch_grid(32, 40, 16, 16);
    FAIL() << "accepted a width that is no multiple";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "image width 40 is not a multiple of the patch width 16; choose 32 or 48");
  }
  try {
    patch_grid(10, 16, 16, 16);
    FAIL() << "accepted a height below the patch's";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "image height 10 is not a multiple of the patch height 16; choose 16");
  }
  EXPECT_THROW(patch_grid(16, 16, 0, 16), Error);
}

}  // namespace
}  // namespace vit::patch
