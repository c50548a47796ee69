// Every architecture that the table knows, shrunken but otherwise as it is, runs.
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
  // NaFlex resamples its table to every grid, so the two differ here too.
  if (c.embedding.position_grid != GridSize{16, 16} || c.embedding.positions_cover_prefix)
    c.embedding.position_grid = c.embedding.grid();
  if (c.encoder.relative_bias.grid.count() != 0) c.encoder.relative_bias.grid = c.embedding.grid();
  for (size_t* width : {&c.head.pool_mlp_width, &c.head.class_mlp_width})
    if (*width != 0) *width = 96;
  c.head.classes = std::min<size_t>(c.head.classes, 10);
  return c;
}

class EveryArchitecture : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryArchitecture, RunsAndAnswersAlikeWithWorkersAndTaps) {
  const ModelConfig config = shrunken(weights::config_of(GetParam()));
  const Model model = load_model(test::random_checkpoint(config));
  for (const auto& block : model.encoder.blocks) {
    const Attention& attention = block.attention.front().attention;
    EXPECT_EQ(attention.rotary != nullptr, config.encoder.rotary.kind != RotaryKind::kNone);
    EXPECT_EQ(attention.offsets != nullptr,
              config.encoder.relative_bias.kind != RelativeBiasKind::kNone);
  }
  EXPECT_EQ(model.head.attention_pool.has_value(), config.head.pooling == Pooling::kAttention);
  EXPECT_EQ(model.head.class_layers.layers.size(), config.head.class_layers);
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
  EXPECT_EQ(plain.size(), config.outputs());
  EXPECT_TRUE(std::all_of(plain.begin(), plain.end(), [](float x) { return std::isfinite(x); }));
  EXPECT_TRUE(std::any_of(plain.begin(), plain.end(), [&](float x) { return x != plain.front(); }));
}

TEST_P(EveryArchitecture, RunsAtAnotherSize) {
  const ModelConfig config = shrunken(weights::config_of(GetParam()));
  weights::Checkpoint checkpoint = test::random_checkpoint(config);
  checkpoint.config.embedding.image_height = 5 * config.embedding.patch_height;
  checkpoint.config.embedding.image_width = 4 * config.embedding.patch_width;
  const Model model = load_model(checkpoint);
  Runner runner(model, Recipe{});
  const Matrix pixels = test::random_matrix(3, runner.pixels().cols, 3);
  std::copy_n(pixels.data(), pixels.size(), runner.pixels().data);
  const std::span<const float> output = runner.logits();
  EXPECT_EQ(output.size(), config.outputs());
  EXPECT_TRUE(std::ranges::all_of(output, [](float x) { return std::isfinite(x); }));
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const weights::Architecture& a : weights::architectures()) all.push_back(a.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Timm, EveryArchitecture, ::testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

TEST(Architectures, TheTableHoldsAllThatTimmRegisters) {
  EXPECT_EQ(weights::architectures().size(), 268u);
}

}  // namespace
}  // namespace vit
