/// The instruction set of a model is what its caller chose, from packing to the last kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/random.h"
#include "tests/support/random_checkpoint.h"
#include "tests/support/small_config.h"
#include "vit/base/thread_pool.h"
#include "vit/kernels/int8_linear.h"
#include "vit/model/load.h"
#include "vit/model/runner.h"

namespace vit {
namespace {

std::vector<float> logits_of(const Model& model, ThreadPool* pool = nullptr) {
  Runner runner(model, Recipe{}, {.pool = pool});
  const Matrix pixels = test::random_matrix(3, runner.pixels().cols, 7);
  std::copy_n(pixels.data(), pixels.size(), runner.pixels().data);
  const auto logits = runner.logits();
  return {logits.begin(), logits.end()};
}

/// Every linear layer of an image model with a plain head.
std::vector<const Linear*> layers_of(const Model& model) {
  std::vector<const Linear*> layers{&model.embedding.project, &model.head.classifier};
  for (const Block& block : model.encoder.blocks) {
    for (const AttentionBranch& branch : block.attention)
      layers.insert(layers.end(), {&branch.attention.qkv, &branch.attention.project});
    for (const MlpBranch& branch : block.mlp)
      layers.insert(layers.end(), {&branch.mlp.expand, &branch.mlp.contract});
  }
  return layers;
}

TEST(ModelIsa, PacksEveryLayerForTheOneThatWasAskedFor) {
  const weights::Checkpoint checkpoint = test::random_checkpoint(test::small_config());
  for (const Isa isa : available_isas())
    for (const Precision precision : {Precision::kF32, Precision::kInt8}) {
      const Model model = load_model(checkpoint, {.precision = precision, .isa = isa});
      EXPECT_EQ(model.isa, isa);
      for (const Linear* layer : layers_of(model)) EXPECT_EQ(layer->isa, isa);
      EXPECT_EQ(model.encoder.blocks.front().mlp.front().mlp.expand.int8 != nullptr,
                precision == Precision::kInt8);
    }
}

TEST(ModelIsa, IsTheActiveOneUnlessSaid) {
  EXPECT_EQ(load_model(test::random_checkpoint(test::small_config())).isa, active_isa());
}

/// Sums of at most 192 products in eleven layers, each rounded to 2^-24: 1e-4 of the largest logit
/// is ten times what they add up to.
TEST(ModelIsa, RunnersOfDifferentOnesAgreeInOneProcess) {
  const weights::Checkpoint checkpoint =
      test::random_checkpoint(test::small_config({.width = 48, .mlp_width = 96}));
  const Model baseline = load_model(checkpoint, {.isa = Isa::kBaseline});
  const std::vector<float> expected = logits_of(baseline);
  float largest = 0.0f;
  for (const float logit : expected) largest = std::max(largest, std::abs(logit));
  for (const Isa isa : available_isas()) {
    const Model model = load_model(checkpoint, {.isa = isa});
    const std::vector<float> logits = logits_of(model);
    for (size_t i = 0; i < logits.size(); ++i)
      EXPECT_NEAR(logits[i], expected[i], 1e-4f * largest) << to_string(isa);
    ThreadPool pool(2);
    EXPECT_EQ(logits_of(model, &pool), logits) << to_string(isa);
  }
  EXPECT_EQ(logits_of(baseline), expected) << "another model in the process changed this one";
}

}  // namespace
}  // namespace vit
