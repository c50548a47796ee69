#include <gtest/gtest.h>

#include "tests/support/allocations.h"
#include "tests/support/random.h"
#include "tests/support/random_checkpoint.h"
#include "tests/support/small_config.h"
#include "vit/model/load.h"
#include "vit/model/runner.h"
#include "weights/known/architectures.h"

namespace vit {
namespace {

class ImageAllocation : public testing::TestWithParam<const char*> {};

TEST_P(ImageAllocation, NoneHappensPerImageOnceTheRunnerIsWarm) {
  if (!test::counts_allocations()) GTEST_SKIP() << "cannot count under a sanitizer";
  const Model model = load_model(test::random_checkpoint(weights::config_of(
      GetParam(), {{"img_size", "32"}, {"embed_dim", "24"}, {"depth", "2"}, {"num_heads", "2"}})));
  Runner runner(model, Recipe{});
  const Matrix pixels = test::random_matrix(3, 32 * 32, 5);
  const auto answer = [&] {
    std::copy_n(pixels.data(), pixels.size(), runner.pixels().data);
    runner.logits();
  };
  answer();
  const size_t before = test::allocations();
  for (int image = 0; image < 3; ++image) answer();
  EXPECT_EQ(test::allocations(), before);
}

TEST(ImageAllocation, NoneHappensWhereHeadsOfBranchesAreDisabled) {
  if (!test::counts_allocations()) GTEST_SKIP() << "cannot count under a sanitizer";
  const Model model = load_model(test::random_checkpoint(test::small_config({.branches = 2})));
  Runner runner(model, Recipe{}, {.disabled_heads = {{0, 1}, {1, 4}}});
  runner.logits();
  const size_t before = test::allocations();
  for (int image = 0; image < 3; ++image) runner.logits();
  EXPECT_EQ(test::allocations(), before);
}

INSTANTIATE_TEST_SUITE_P(Models, ImageAllocation,
                         testing::Values("vit_tiny_patch16_224", "vit_base_mci_224"));

}  // namespace
}  // namespace vit
