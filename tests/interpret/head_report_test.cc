#include "vit/interpret/head_report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/interpret/synthetic.h"
#include "tests/support/random.h"
#include "tests/support/random_checkpoint.h"
#include "vit/model/load.h"

namespace vit::interpret {
namespace {

/// The checkpoint with the columns of W_O that read one head at zero, so that it has no effect.
weights::Checkpoint with_dead_head(const ModelConfig& config, HeadId id) {
  weights::Checkpoint checkpoint = test::random_checkpoint(config);
  const std::string name = "blocks." + std::to_string(id.layer) + ".attn.proj.weight";
  auto values = std::make_shared<std::vector<float>>(config.encoder.width * config.encoder.width);
  checkpoint.at(name).read_rows(0, config.encoder.width, values->data());
  const size_t d = config.encoder.head_width();
  for (size_t r = 0; r < config.encoder.width; ++r)
    std::fill_n(
        values->begin() + static_cast<std::ptrdiff_t>(r * config.encoder.width + id.head * d), d,
        0.0f);
  const weights::Shape shape{config.encoder.width, config.encoder.width};
  checkpoint.add(name,
                 weights::Tensor{weights::DType::kF32, shape, weights::contiguous_strides(shape),
                                 reinterpret_cast<const std::byte*>(values->data())});
  checkpoint.keep(values);
  return checkpoint;
}

void fill_pixels(Runner& runner, unsigned seed) {
  const Matrix pixels = test::random_matrix(3, runner.pixels().cols, seed);
  std::copy_n(pixels.data(), pixels.size(), runner.pixels().data);
}

TEST(HeadReport, FindsAPlantedDeadHeadAndNoOther) {
  const ModelConfig config = test::small_config();
  const Model model = load_model(with_dead_head(config, {1, 2}));
  HeadReportBuilder builder(config);
  Runner runner(model, Recipe{});
  for (unsigned seed = 1; seed <= 3; ++seed) {
    fill_pixels(runner, seed);
    const AttentionMaps maps = capture(runner);
    builder.add(maps, measure_attention(maps));
    builder.add_effects(measure_heads(runner));
  }
  const HeadReport report = builder.report();
  EXPECT_EQ(report.images, 3u);
  ASSERT_EQ(report.summaries.size(), 9u);
  for (const HeadSummary& head : report.summaries) {
    EXPECT_EQ(head.dead, head.id == (HeadId{1, 2})) << head.id.layer << ":" << head.id.head;
    EXPECT_GE(head.divergence, 0.0);
  }
  EXPECT_EQ(report.summaries[5].flips, 0.0);
  EXPECT_LT(report.summaries[5].divergence, 1e-9);
}

TEST(HeadReport, MeasuredEffectsEqualWholePassesWithTheHeadDisabled) {
  ModelConfig config = test::small_config();
  struct Way {
    size_t layers;  ///< that the classifier reads
    size_t merge;   ///< tokens merged after each layer
  };
  for (const auto [layers, merge] : {Way{1, 0}, Way{3, 0}, Way{1, 3}, Way{3, 3}}) {
    config.head.pooled_layers = layers;
    const Model model = load_model(test::random_checkpoint(config));
    Runner runner(model, Recipe{}, {.merge_tokens = merge});
    fill_pixels(runner, 1);
    const auto effects = measure_heads(runner);
    const auto answer_with = [&, merge = merge](const std::vector<HeadId>& disabled) {
      Runner other(model, Recipe{}, {.merge_tokens = merge, .disabled_heads = disabled});
      fill_pixels(other, 1);
      const std::span<const float> output = other.logits();
      return std::vector<float>(output.begin(), output.end());
    };
    const auto whole = answer_with({});
    for (size_t i = 0; i < effects.size(); ++i) {
      const HeadEffect expected =
          compare_outputs(whole, answer_with({{i / 3, i % 3}}), model.config.head);
      EXPECT_EQ(effects[i].divergence, expected.divergence)
          << i << ", " << layers << " layers, merging " << merge;
      EXPECT_EQ(effects[i].change, expected.change);
      EXPECT_EQ(effects[i].flips, expected.flips);
    }
  }
}

TEST(HeadReport, ComparesAnswersByTheirDivergence) {
  const std::vector<float> whole{std::log(0.5f), std::log(0.25f), std::log(0.25f)};
  const std::vector<float> without{std::log(0.25f), std::log(0.5f), std::log(0.25f)};
  const HeadConfig head{.classes = 3};
  const HeadEffect effect = compare_outputs(whole, without, head);
  EXPECT_NEAR(effect.divergence, 0.5 * std::log(2.0) - 0.25 * std::log(2.0), 1e-6);
  EXPECT_TRUE(effect.flips);
  EXPECT_EQ(compare_outputs(whole, whole, head).divergence, 0.0);
  EXPECT_EQ(compare_outputs(whole, without, {.classes = 0}).divergence, 0.0);
}

TEST(HeadReport, ComparesIndependentClassesOneByOne) {
  const HeadConfig head{.classes = 2, .multi_label = true};
  // The first class from 1/2 to 1/4, the second, which is certain, unchanged.
  const std::vector<float> whole{0.0f, 500.0f}, without{std::log(1.0f / 3.0f), 500.0f};
  const double expected = 0.5 * std::log(2.0) + 0.5 * std::log(2.0 / 3.0);
  EXPECT_NEAR(compare_outputs(whole, without, head).divergence, expected, 1e-6);
  EXPECT_EQ(compare_outputs(whole, whole, head).divergence, 0.0);
}

TEST(HeadReport, AveragesOverImagesAndRecognisesTheMeanAttention) {
  ModelConfig config = test::small_config();
  config.encoder.depth = 1;
  config.encoder.heads = config.encoder.key_value_heads = 2;
  const TokenLayout layout = token_layout(config);
  HeadReportBuilder builder(config);
  for (unsigned seed = 1; seed <= 4; ++seed) {
    AttentionMaps maps = test::random_maps(layout, 1, 2, seed);
    const Matrix planted = test::planted_attention(
        layout.tokens(), 0.6, seed, [](size_t query, size_t key) { return query == key; });
    std::copy_n(planted.data(), planted.size(), maps.weights.data());
    builder.add(maps, measure_attention(maps));
  }
  builder.add_estimates(std::vector<double>{-0.2, 0.1});
  builder.add_estimates(std::vector<double>{0.4, 0.1});
  const HeadReport report = builder.report();
  EXPECT_EQ(report.summaries[0].pattern.kind, PatternKind::kDiagonal);
  EXPECT_EQ(report.summaries[1].pattern.kind, PatternKind::kMixed);
  EXPECT_LT(report.summaries[0].distance, report.summaries[1].distance);
  EXPECT_LT(report.summaries[0].entropy, report.summaries[1].entropy);
  EXPECT_NEAR(report.summaries[0].estimate, 0.3, 1e-12);
  EXPECT_FALSE(report.summaries[0].dead) << "nothing was measured";
}

}  // namespace
}  // namespace vit::interpret
