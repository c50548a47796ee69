#include "vit/version.h"

#include <gtest/gtest.h>

TEST(Version, OfLibraryHeadersAndPackageIsTheSame) {
  EXPECT_EQ(vit::version(), VIT_VERSION);
  EXPECT_EQ(vit::kVersion, VIT_VERSION);
}
