// Every architecture that the table knows, shrunken but otherwise as it is, runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/random.h"
#include "tests/support/random_checkpoint.h"
#include "vit/model/load.h"
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
  ModelWorkspace workspace(model);
  workspace.pixels = test::random_matrix(3, workspace.pixels.cols(), 3);
  std::vector<float> plain(config.outputs()), watched(config.outputs());
  run(model, workspace, plain);

  ThreadPool pool(2);
  workspace.encoder.pool = &pool;
  size_t maps = 0;
  ModelTaps taps;
  taps.encoder.attention = [&](size_t, ConstMatrixView attention) {
    EXPECT_EQ(attention.rows,
              config.encoder.branches * config.encoder.heads * config.embedding.tokens());
    ++maps;
  };
  run(model, workspace, watched, &taps);
  EXPECT_EQ(plain, watched);
  EXPECT_EQ(maps, 2u);
  EXPECT_TRUE(std::all_of(plain.begin(), plain.end(), [](float x) { return std::isfinite(x); }));
  EXPECT_TRUE(std::any_of(plain.begin(), plain.end(), [&](float x) { return x != plain.front(); }));
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const weights::Architecture& a : weights::architectures()) all.push_back(a.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Timm, EveryArchitecture, ::testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

TEST(Architectures, TheTableHoldsAllThatTimmRegisters) {
  EXPECT_EQ(weights::architectures().size(), 173u);
}

}  // namespace
}  // namespace vit
