// Every plain architecture that the table knows, shrunken but otherwise as it is, runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/random.h"
#include "tests/support/random_checkpoint.h"
#include "vit/model/load.h"
#include "vit/model/runner.h"
#include "weights/known/architectures.h"

namespace vit {
namespace {

/// Two blocks of 48 wide tokens on a grid of 2x3 patches; the kind of everything stays.
ModelConfig shrunken(ModelConfig c) {
  const double mlp_ratio =
      static_cast<double>(c.encoder.mlp_width) / static_cast<double>(c.encoder.width);
  c.encoder.width = 48;
  c.encoder.heads = c.encoder.key_value_heads = 3;
  c.encoder.depth = 2;
  c.encoder.mlp_width = static_cast<size_t>(48 * mlp_ratio) / 2 * 2;
  c.embedding.image_height = 2 * c.embedding.patch_height;
  c.embedding.image_width = 3 * c.embedding.patch_width;
  c.embedding.position_grid = c.embedding.grid();
  c.head.classes = std::min<size_t>(c.head.classes, 10);
  return c;
}

class EveryArchitecture : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryArchitecture, RunsAndAnswersAlikeWithWorkersAndTaps) {
  const ModelConfig config = shrunken(weights::config_of(GetParam()));
  const Model model = load_model(test::random_checkpoint(config));
  Runner runner(model, Recipe{});
  const Matrix pixels = test::random_matrix(3, runner.pixels().cols, 3);
  std::copy_n(pixels.data(), pixels.size(), runner.pixels().data);
  const auto copied = [](std::span<const float> output) {
    return std::vector<float>(output.begin(), output.end());
  };
  const std::vector<float> plain = copied(runner.logits());

  ThreadPool pool(2);
  runner.set_pool(&pool);
  size_t maps = 0;
  ModelTaps taps;
  taps.encoder.attention = [&](size_t, ConstMatrixView attention) {
    EXPECT_EQ(attention.rows,
              config.encoder.branches * config.encoder.heads * config.embedding.tokens());
    ++maps;
  };
  EXPECT_EQ(plain, copied(runner.logits(&taps)));
  EXPECT_EQ(maps, 2u);
  EXPECT_TRUE(std::all_of(plain.begin(), plain.end(), [](float x) { return std::isfinite(x); }));
  EXPECT_TRUE(std::any_of(plain.begin(), plain.end(), [&](float x) { return x != plain.front(); }));
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const weights::Architecture& a : weights::architectures())
    if (a.kind == weights::TimmClass::kVisionTransformer ||
        a.kind == weights::TimmClass::kDistilled)
      all.push_back(a.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Timm, EveryArchitecture, ::testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

TEST(Architectures, TheTableHoldsAllThatTimmRegisters) {
  EXPECT_EQ(weights::architectures().size(), 267u);
}

}  // namespace
}  // namespace vit
